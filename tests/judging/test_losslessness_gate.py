"""The losslessness gate: what fails a sample before it is compared, and what only voids it."""

from __future__ import annotations

from typing import Any

import pytest

from armgate.judging.checks import CHECKS
from armgate.model.arms import Arm, ProcessLauncher
from armgate.model.evidence import GateEvidence, Sample
from armgate.model.exchange import Clock, Exchange, Fate, Frame
from armgate.model.gates import Gate, Probe
from armgate.model.outcome import Family, Outcome, Verdict
from armgate.model.plan import Plan
from armgate.model.response import Response, Void
from armgate.model.soundness import TEXT_LOST
from armgate.model.teacher_forcing import ReplayedAnswer

PLAN: Plan = None  # type: ignore[assignment] # the check asks the plan for nothing
ARM = Arm(
    name="fast",
    engine="vllm",
    launcher=ProcessLauncher(kind="process", python="p"),
    target="t",
    reference="base",
)
PLACES = (
    b'{"choices":[{"prompt_logprobs":'
    b'[null,{"1":{"logprob":-0.1,"rank":1}},{"2":{"logprob":-0.1,"rank":1}}]}]}'
)


def answer(void: Void | None = None, end_s: float = 1.0, fate: Fate = Fate.COMPLETE) -> Sample:
    return Sample(
        id="p.0",
        probe=Probe(id="p", prompt="p"),
        n=0,
        path="exchanges/g/p.0.jsonl",
        exchange=Exchange(
            request={"temperature": 0},
            status=200,
            headers={},
            frames=(),
            fate=fate,
            clock=Clock(end_s=end_s),
        ),
        response=Response(content="ab", finish_reason="stop", token_ids=(1, 2)),
        void=void,
    )


REPLAY = ReplayedAnswer(
    sample="p.0",
    path="replay.jsonl",
    prompt_tokens=1,
    exchange=Exchange(
        request={"prompt": [0, 1, 2]},
        status=200,
        headers={},
        frames=(Frame(0.1, PLACES),),
        fate=Fate.COMPLETE,
    ),
)


def judge(one: Sample, deadline_s: float | None = None, **changes: Any) -> Verdict:
    gate = Gate(
        id="g",
        check="losslessness",
        required=True,
        why="w",
        probes=(one.probe,),
        deadline_s=deadline_s,
        options={"near_tie_nats": 0.1},
    )
    fields: dict[str, Any] = {"family": Family.SEMANTIC, "reference_arm": "base", **changes}
    evidence = GateEvidence(
        gate=gate,
        arm=ARM,
        samples=(one,),
        planned_samples=1,
        reference_samples=(answer(),),
        control_samples=(answer(),),
        **fields,
    )
    return CHECKS["losslessness"].judge(evidence, PLAN)


REPLAYED: dict[str, Any] = {"replays": (REPLAY,), "control_replays": (REPLAY,)}
REJECTED = Void(cause="context_rejected", message="too long", fails_as=Family.RUNTIME)
DROPPED = Void(cause="connection_dropped", message="lost")


@pytest.mark.parametrize("way", [{}, REPLAYED])
@pytest.mark.parametrize(
    ("one", "changes", "clause"),
    [
        (answer(end_s=9.0), {"deadline_s": 2.0}, "deadline"),
        (answer(DROPPED, fate=Fate.DROPPED), {"engine_died": "exit code 3"}, "engine_alive"),
        (answer(REJECTED), {}, "context_rejected"),
    ],
)
def test_what_fails_anywhere_fails_here_too(
    one: Sample, changes: dict[str, Any], clause: str, way: dict[str, Any]
) -> None:
    verdict = judge(one, **changes, **way)
    assert verdict.outcome is Outcome.FAILED
    (violation,) = verdict.samples[0].violations
    assert (violation.clause, violation.family) == (clause, Family.RUNTIME)


@pytest.mark.parametrize("way", [{}, REPLAYED])
def test_sound_answers_are_compared_and_a_lost_connection_is_void(way: dict[str, Any]) -> None:
    assert judge(answer(), deadline_s=2.0, **way).outcome is Outcome.PASSED
    assert judge(answer(DROPPED, fate=Fate.DROPPED), **way).outcome is Outcome.VOID


def test_a_lost_text_is_void_whatever_family_the_gate_has() -> None:
    lost = answer(Void(cause=TEXT_LOST, message="no text", fails_as=Family.CONTRACT))
    assert judge(lost, family=Family.CONTRACT).outcome is Outcome.VOID


def test_the_control_of_a_replay_is_not_held_to_the_deadline_of_another_boot() -> None:
    assert judge(answer(end_s=9.0), deadline_s=2.0, replays=(REPLAY,)).outcome is Outcome.PASSED
