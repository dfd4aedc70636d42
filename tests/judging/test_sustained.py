"""Sustained generation: what a contract cannot switch off, and which equal lengths show a hidden cap."""

from __future__ import annotations

import json
from typing import Any

import pytest

from armgate.judging.checks import CHECKS
from armgate.model.arms import Arm, ProcessLauncher
from armgate.model.evidence import GateEvidence, Sample
from armgate.model.exchange import Clock, Exchange, Fate, Frame
from armgate.model.gates import Gate, Probe
from armgate.model.outcome import Family, Outcome, Verdict
from armgate.model.plan import Plan
from armgate.model.reading import read_response
from armgate.model.soundness import void_of
from support.judged import contract_of

ARM = Arm(
    name="a",
    engine="vllm",
    launcher=ProcessLauncher(kind="process", python="p"),
    target="t",
    reference="a",
)
CAP = 400


def answer(probe: str, content: str, tokens: int, finish: str = "stop") -> Sample:
    body = {
        "choices": [{"index": 0, "message": {"content": content}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 9, "completion_tokens": tokens, "total_tokens": 9 + tokens},
    }
    exchange = Exchange(
        request={"max_tokens": CAP, "temperature": 0},
        status=200,
        headers={},
        frames=(Frame(1.0, json.dumps(body).encode()),),
        fate=Fate.COMPLETE,
        clock=Clock(end_s=1.0),
    )
    response = read_response(exchange)
    return Sample(
        id=f"{probe}.0",
        probe=Probe(id=probe, prompt=probe),
        n=0,
        path=f"exchanges/g/{probe}.0.jsonl",
        exchange=exchange,
        response=response,
        void=void_of(exchange, response),
    )


def judge(*samples: Sample, clauses: dict[str, Any] | None = None) -> Verdict:
    gate = Gate(
        id="g",
        check="sustained",
        required=True,
        why="w",
        probes=tuple(sample.probe for sample in samples),
        contract=None if clauses is None else "own",
    )
    contracts = {} if clauses is None else {"own": contract_of(clauses)}
    plan = Plan.model_construct(contracts=contracts)
    evidence = GateEvidence(
        gate=gate, family=Family.RUNTIME, arm=ARM, samples=samples, planned_samples=len(samples)
    )
    return CHECKS["sustained"].judge(evidence, plan)


PARAGRAPH = "".join(f"Sentence number {n} of the long paragraph is here. " for n in range(20))


def test_a_contract_cannot_allow_a_stop_at_the_cap() -> None:
    lax = {"finish": {"reason": ["stop", "length"], "below_cap": False}}
    verdict = judge(answer("p", "Some text.", CAP, "length"), clauses=lax)
    assert verdict.outcome is Outcome.FAILED
    assert verdict.measurements["rates"] == {}


@pytest.mark.parametrize("clauses", [None, {"no_degeneration": {"repeats": 1_000_000}}])
@pytest.mark.parametrize("piece", ["I am a fish. ", PARAGRAPH])
def test_neither_a_contract_nor_a_long_piece_hides_a_loop(piece: str, clauses: dict[str, Any] | None) -> None:
    verdict = judge(answer("p", piece * 30, 60), clauses=clauses)
    assert (verdict.outcome, verdict.cause) == (Outcome.FAILED, "no_degeneration:loop")


def test_what_the_contract_forbids_too_is_told_once() -> None:
    verdict = judge(answer("p", "Text.", CAP, "length"), clauses={"finish": {"reason": "stop"}})
    assert [v.clause for v in verdict.samples[0].violations].count("finish") == 1


def test_one_length_of_all_long_answers_is_a_hidden_cap() -> None:
    verdict = judge(answer("p", "One.", 70), answer("q", "Two.", 70), answer("r", "Yes.", 2))
    assert (verdict.outcome, verdict.cause) == (Outcome.VOID, "capped_silently")
    assert [v.outcome for v in verdict.samples] == [Outcome.VOID, Outcome.VOID, Outcome.PASSED]


def test_two_of_many_that_agree_by_chance_are_none() -> None:
    assert judge(answer("p", "One.", 70), answer("q", "Two.", 70), answer("r", "Three.", 71)).outcome is (
        Outcome.PASSED
    )
    assert judge(answer("p", "One.", 70)).outcome is Outcome.PASSED
    assert judge(answer("p", "One.", 63), answer("q", "Two.", 63)).outcome is Outcome.PASSED
