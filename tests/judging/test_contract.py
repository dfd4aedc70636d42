from __future__ import annotations

import json
from typing import Any

import pytest

from armgate.judging.clauses.registry import CLAUSES
from armgate.judging.contract import judge_contract, judge_exchange, judge_text
from armgate.judging.subject import Subject
from armgate.model.contract import CLAUSE_NAMES
from armgate.model.exchange import Exchange, Fate, Frame
from armgate.model.outcome import Family, Outcome
from armgate.model.reading import read_response
from armgate.model.response import Response, Void
from support.judged import contract_of

EXACT = contract_of({"finish": {}}, {"exact": {"text": "703"}})


def _exchange(message: dict[str, Any], reason: str | None = "stop", **fields: Any) -> Exchange:
    body = {"choices": [{"index": 0, "message": message, "finish_reason": reason}]}
    request = fields.pop("request", {})
    if "usage" in fields:
        body["usage"] = fields.pop("usage")
    return Exchange(
        request=request,
        status=200,
        headers={},
        frames=(Frame(0.0, json.dumps(body).encode()),),
        fate=Fate.COMPLETE,
        timed=False,
    )


def _judged(exchange: Exchange, void: Void | None = None) -> Any:
    return judge_exchange(EXACT, exchange, read_response(exchange), void)


def test_every_clause_that_a_contract_may_name_has_its_function() -> None:
    assert set(CLAUSES) == set(CLAUSE_NAMES)


def test_violations_come_clause_by_clause_as_declared() -> None:
    contract = contract_of({"no_fence": {}}, {"python": {}}, {"one_fence": {}})
    violations = judge_contract(contract, Subject.of_text("```\nx = 1\n```\nend of it"))
    assert [violation.clause for violation in violations] == ["no_fence", "python", "python", "one_fence"]


def test_a_sound_exchange_passes_or_fails() -> None:
    assert _judged(_exchange({"content": "703"})).outcome is Outcome.PASSED
    failed = _judged(_exchange({"content": "703."}))
    assert (failed.outcome, failed.cause) == (Outcome.FAILED, "exact:punctuation")
    assert failed.tolerances == {"exact": [{"text": "703"}]}


def test_a_void_exchange_is_judged_by_no_clause() -> None:
    for void in (None, Void(cause="foreign_traffic", message="not alone")):
        judged = _judged(_exchange({"content": "no"}, reason=None if void is None else "stop"), void)
        assert (judged.outcome, judged.violations) == (Outcome.VOID, ())
        assert judged.cause == ("no_finish_reason" if void is None else "foreign_traffic")
        assert judged.message


def test_a_void_that_counts_as_failed_is_a_violation_of_its_family() -> None:
    lost = _exchange({"content": None}, usage={"prompt_tokens": 9, "completion_tokens": 57})
    judged = _judged(lost)
    assert (judged.outcome, judged.cause) == (Outcome.FAILED, "tokens_generated_but_no_text")
    assert (judged.violations[0].clause, judged.violations[0].family) == ("response", Family.CONTRACT)
    crashed = _judged(_exchange({"content": "703"}), Void(cause="x", message="y", fails_as=Family.RUNTIME))
    assert [violation.family for violation in crashed.violations] == [Family.RUNTIME]


@pytest.mark.parametrize(
    ("message", "reason", "cause"),
    [
        ({"content": None, "reasoning": "703"}, "stop", "content_empty_answer_in_reasoning"),
        ({"content": "", "reasoning": "First, consider"}, "length", "budget_exhausted_in_reasoning"),
        ({"content": None, "reasoning": "<tool_call>{}"}, "stop", "tool_call_in_reasoning"),
        ({"content": "70"}, "length", "length_stop"),
        ({"content": "704"}, "stop", "exact:different"),
    ],
)
def test_a_failure_names_what_it_comes_from(message: dict[str, Any], reason: str, cause: str) -> None:
    assert _judged(_exchange(message, reason)).cause == cause


def test_doubts_about_figures_are_findings_and_fail_nothing() -> None:
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    judged = _judged(_exchange({"content": "703"}, usage=usage))
    assert judged.outcome is Outcome.PASSED
    assert {finding.kind for finding in judged.findings} == {
        "usage_zero_with_text",
        "prompt_tokens_unreliable",
    }
    assert [f.kind for f in _judged(_exchange({"content": "703"})).findings] == ["usage_missing"]


def test_parses_are_made_once_for_all_clauses() -> None:
    subject = Subject(Response(content='{"a": 1}'))
    contract = contract_of({"json": {"value": {"a": 1}}}, {"json": {"keys": ["a"]}})
    assert judge_contract(contract, subject) == ()
    text = subject.text("content")
    assert text is not None
    assert subject.text("content") is text
    assert text.json is text.json


def test_the_judgement_of_a_bare_text_says_what_was_not_applicable() -> None:
    assert judge_text(EXACT, "703").not_applicable == ("finish",)
