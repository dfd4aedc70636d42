from __future__ import annotations

from armgate.judging.contract import judge_text
from armgate.judging.subject import Subject
from armgate.model.response import Response, Usage
from support.judged import contract_of, judged, kinds

NATURAL = {"finish": {"reason": "stop", "below_cap": True}}


def _ended(reason: str | None, tokens: int | None = None, cap: int | None = None) -> Subject:
    usage = None if tokens is None else Usage(completion_tokens=tokens)
    return Subject(Response(content="a", finish_reason=reason, usage=usage), cap_tokens=cap)


def test_a_natural_stop_is_stop_and_below_the_cap() -> None:
    assert judged(NATURAL, _ended("stop", 15, 16)) == ()
    assert kinds(NATURAL, _ended("stop", 16, 16)) == ["at_cap"]
    assert kinds(NATURAL, _ended("length", 16, 16)) == ["length_stop"]
    assert kinds(NATURAL, _ended("content_filter")) == ["other_reason"]
    assert kinds(NATURAL, _ended(None)) == ["other_reason"]


def test_the_cap_cannot_be_checked_without_a_count() -> None:
    assert judged(NATURAL, _ended("stop", None, 16)) == ()
    assert judged(NATURAL, _ended("stop", 16, None)) == ()


def test_reasons_and_the_cap_are_options() -> None:
    clause = {"finish": {"reason": ["stop", "tool_calls"], "below_cap": False}}
    assert judged(clause, _ended("tool_calls", 16, 16)) == ()


def test_finish_and_reasoning_do_not_apply_to_a_bare_text() -> None:
    contract = contract_of(NATURAL, {"reasoning": {"presence": "required"}}, {"exact": {"text": "a"}})
    judgement = judge_text(contract, "a")
    assert judgement.outcome.value == "passed"
    assert judgement.not_applicable == ("finish", "reasoning")


def test_an_answer_is_text_and_not_white_space() -> None:
    assert judged({"answered": {}}, Response(content=" a ")) == ()
    assert kinds({"answered": {}}, Response(content=None, reasoning="703")) == ["null_channel"]
    assert kinds({"answered": {}}, Response(content=" \n")) == ["empty"]


def test_reasoning_is_required_or_forbidden() -> None:
    required = {"reasoning": {"presence": "required", "characters": {"max": 5}}}
    assert judged(required, Response(content="a", reasoning="hm")) == ()
    assert kinds(required, Response(content="a", reasoning=None)) == ["absent"]
    assert kinds(required, Response(content="a", reasoning="\n\n")) == ["absent"]
    assert kinds(required, Response(content="a", reasoning="too long")) == ["characters"]
    assert kinds({"reasoning": {"presence": "forbidden"}}, Response(content="a", reasoning="hm")) == [
        "present"
    ]
    assert judged({"reasoning": {"presence": "forbidden"}}, Response(content="a", reasoning="\n")) == ()
