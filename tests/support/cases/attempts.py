"""Incidents about attempts at one request: what came of each, and which figures are the last one's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from armgate.judging.checks import CHECKS
from armgate.judging.observation import observed
from armgate.model.arms import Arm, ProcessLauncher
from armgate.model.evidence import GateEvidence, Sample
from armgate.model.exchange import Clock, Exchange, Fate, Frame
from armgate.model.gates import Gate, Probe
from armgate.model.plan import Plan
from armgate.model.reading import read_response
from armgate.model.retries import Attempt, Retries, may_be_repeated
from armgate.model.soundness import void_of
from support.cases.observed import ABSENT, Observed

PLAN: Plan = None  # type: ignore[assignment] # this check asks the plan for nothing
PROBE = Probe(id="p", prompt="p")
STREAM = (
    b'data: {"choices": [{"index": 0, "delta": {"content": "a text"}, "finish_reason": "stop"}]}\n\n'
    b"data: [DONE]\n\n"
)


def attempts(made: Sequence[Mapping[str, Any]]) -> Iterator[Observed]:
    """A gate that may ask again and judges the last attempt."""
    exchanges = [_exchange(one, made[0]["t_ms"]) for one in made]
    last = exchanges[-1]
    response = read_response(last)
    sample = Sample(
        id="p.0",
        probe=PROBE,
        n=0,
        path=f"p.0.attempt-{len(made) - 1}",
        exchange=last,
        response=response,
        void=void_of(last, response),
        attempts=tuple(
            Attempt(path=f"p.{number}", status=one.status, fate=one.fate)
            for number, one in enumerate(exchanges)
        ),
    )
    retries = Retries(attempts=len(made), counts="last")
    gate = Gate(id="g", check="responds", required=True, why="w", probes=(PROBE,), retries=retries)
    launcher = ProcessLauncher(kind="process", python="p")
    arm = Arm(name="a", engine="vllm", launcher=launcher, target="t", reference="a")
    evidence = GateEvidence(
        gate=gate, family=CHECKS["responds"].family, arm=arm, samples=(sample,), planned_samples=1
    )
    verdict = observed(CHECKS["responds"].judge(evidence, PLAN), evidence)
    told = verdict.measurements["attempts"]["p.0"]
    values = {
        "attempts": told["made"],
        "ttft_ms": round(told["ttft_s"] * 1000, 6),
        "queue_and_retry_ms": round(told["waited_s"] * 1000, 6),
    }
    words = frozenset(finding.kind for finding in verdict.findings)
    assert all(may_be_repeated(one) for one in exchanges[:-1])
    assert told["unanswered"] == len(made) - 1
    yield Observed("", verdict.outcome.value, words, lambda name: values.get(name, ABSENT))


def _exchange(one: Mapping[str, Any], due_ms: float) -> Exchange:
    answered = one["status"] == 200
    frames = (Frame(one["ttft_ms"] / 1000, STREAM),) if answered else (Frame(0.1, b"{}"),)
    return Exchange(
        request={"stream": True},
        status=one["status"],
        headers={"content-type": "text/event-stream" if answered else "application/json"},
        frames=frames,
        fate=Fate.COMPLETE,
        clock=Clock(scheduled_s=(due_ms - one["t_ms"]) / 1000, end_s=one["dur_ms"] / 1000),
        timed=True,
    )
