"""Properties of judging that hold for any answer whatever."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from armgate.judging.clauses.registry import CLAUSES
from armgate.judging.contract import judge_contract, judge_subject
from armgate.judging.subject import Subject
from armgate.loading.contracts import load_contract
from armgate.model.outcome import Outcome
from armgate.model.response import Response, ToolCall, Usage
from support.judged import contract_of

EVERY_CLAUSE: list[dict[str, Any]] = [
    {"finish": {}},
    {"answered": {}},
    {"reasoning": {"presence": "required", "characters": {"min": 1}}},
    {"reasoning": {"presence": "forbidden"}},
    {
        "tool_calls": {
            "calls": [{"name": "a", "arguments": {"x": [1]}, "schema": {"type": "object"}}],
            "order": "any",
        }
    },
    {"tool_round_trip": {"answer_from": "/a/0"}},
    {"exact": {"text": "703", "whitespace": "trim_ascii_ws"}},
    {"contains": {"texts": ["a", "703"], "boundary": "token", "case": "ignore_ascii", "times": {"min": 1}}},
    {"not_contains": {"texts": ["\n", "a"], "boundary": "token"}},
    {"regex": {"pattern": "(a|b)*c", "match": "full"}},
    {"regex": {"pattern": ".", "match": "search", "only": ["a"], "times": {"max": 2}}},
    {"length": {unit: {"max": 1} for unit in ("bytes", "characters", "lines", "words", "sentences")}},
    {"script": {"mostly": ["Hangul"], "forbid": ["Han", "Latin"], "ignore_code": True}},
    {"language": {"is": "ja", "ignore_code": True}},
    {"language": {"is": "en", "min_words": 1}},
    {"plain_text": {}},
    {"no_fence": {}},
    {"one_fence": {"info": ["py"], "outside": "blank"}},
    {
        "python": {
            "source": "fenced_block",
            "defines": "f(a: int = 1) -> int",
            "imports": "none",
            "top_level": "definitions_and_constants",
            "type_hints": "required",
            "docstring": "required",
            "comments": "required",
        }
    },
    {"python": {"comments": "forbidden"}},
    {"json": {"source": "fenced_block"}},
    {
        "json": {
            "schema": {
                "additionalProperties": False,
                "uniqueItems": True,
                "patternProperties": {"a": {"pattern": "b"}},
            },
            "value": {"a": [1, None]},
            "keys": ["a"],
            "whitespace_around": "refused",
        }
    },
    {"csv": {"header": ["a", "b"], "rows": {"max": 1}}},
    {"no_reasoning_leak": {"allow_tag_words": True, "empty_block": "allowed"}},
    {"no_reasoning_leak": {"channel": "reasoning"}},
    {"no_special_tokens": {}},
    {"no_replacement_characters": {}},
    {"no_invisible_characters": {}},
    {"no_degeneration": {"unit": 3, "repeats": 3, "loop_chars": 64, "whitespace_chars": 32}},
]
CONTRACT = contract_of(*EVERY_CLAUSE)

PIECES = st.sampled_from(
    [
        "```", "```py\n", "~~~", "\n", "\r", "\r\n", "> ", "- ", "    ", "<think>", "</think>", "<|channel|>",
        "{", "}", "[", "]", '"a"', ":", ",", "1e999", "NaN", "9" * 20,
        "\\ud800", "\ud83d", "\udcff", "\ufffd", "\u200b",
        "\ufeff", "\x00",
        "def f(a):", " return a", "#", "'''", "703", "정", "漢", "ー", "a,b\n", '"', "\\",
        "👩\u200d👩", "　", ". ",
    ]
)  # fmt: skip
ANSWERS = st.one_of(
    st.lists(PIECES, max_size=30).map("".join),
    st.text(st.characters() | st.sampled_from("\ud800\udfff"), max_size=80),
    st.binary(max_size=80).map(lambda data: data.decode(errors="surrogateescape")),
)
TEXTS = st.none() | ANSWERS
CALLS = st.lists(
    st.builds(
        ToolCall,
        index=st.integers(0, 2),
        id=st.none() | st.sampled_from(["", "c1"]),
        name=st.none() | st.sampled_from(["a", ""]),
        arguments=TEXTS,
    ),
    max_size=3,
).map(tuple)
JUNK = st.recursive(
    st.none() | st.booleans() | st.text(max_size=3),
    lambda below: st.lists(below) | st.dictionaries(st.text(max_size=3), below),
)


def test_the_list_above_names_every_clause() -> None:
    assert {name for clause in EVERY_CLAUSE for name in clause} == set(CLAUSES)


@given(
    content=TEXTS,
    reasoning=TEXTS,
    calls=CALLS,
    finish=st.none() | st.sampled_from(["stop", "length", ""]),
    tokens=st.none() | st.integers(0, 100),
    messages=JUNK
    | st.lists(st.fixed_dictionaries({"role": st.just("tool"), "tool_call_id": JUNK, "content": TEXTS})),
    tools=JUNK,
)
def test_no_clause_ever_raises_and_every_span_lies_in_its_channel(
    content: str | None,
    reasoning: str | None,
    calls: Any,
    finish: str | None,
    tokens: int | None,
    messages: Any,
    tools: Any,
) -> None:
    response = Response(
        content=content,
        reasoning=reasoning,
        tool_calls=calls,
        finish_reason=finish,
        usage=None if tokens is None else Usage(completion_tokens=tokens),
    )
    subject = Subject(
        response, request={"messages": messages, "tools": tools}, cap_tokens=50, body=b"\xef\xbf\xbd"
    )
    for violation in judge_contract(CONTRACT, subject):
        assert violation.kind
        assert violation.message
        if violation.span is not None:
            start, end = violation.span
            text = response.channel(violation.channel or "") or ""
            assert 0 <= start <= end <= len(text.encode("utf-8", "surrogatepass"))
    json.dumps(judge_subject(CONTRACT, subject).model_dump(mode="json"))


@given(ANSWERS)
def test_judging_twice_gives_the_same_violations(answer: str) -> None:
    assert judge_contract(CONTRACT, Subject.of_text(answer)) == judge_contract(
        CONTRACT, Subject.of_text(answer)
    )


@given(st.text(min_size=1), st.text(min_size=1))
@example("703", "\n")
@example("703", "\u200b")
def test_anything_appended_to_an_exact_answer_makes_it_fail(answer: str, appended: str) -> None:
    contract = contract_of({"exact": {"text": answer}})
    assert judge_contract(contract, Subject.of_text(answer)) == ()
    violations = judge_contract(contract, Subject.of_text(answer + appended))
    assert [violation.clause for violation in violations] == ["exact"]
    assert violations[0].span == (len(answer.encode()), len((answer + appended).encode()))


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_a_bare_text_is_judged_like_a_stopped_response(answer: str) -> None:
    contract = contract_of(
        *(clause for clause in EVERY_CLAUSE if not {"finish", "reasoning", "tool_round_trip"} & clause.keys())
    )
    stopped = Subject(Response(content=answer, finish_reason="stop"))
    assert judge_contract(contract, Subject.of_text(answer)) == judge_contract(contract, stopped)


SHIPPED = [
    load_contract(path) for path in sorted((Path(__file__).resolve().parents[2] / "contracts").glob("*.yaml"))
]


@given(ANSWERS)
def test_no_shipped_contract_raises(answer: str) -> None:
    for contract in SHIPPED:
        judged = judge_subject(contract, Subject.of_text(answer))
        assert judged.outcome in (Outcome.PASSED, Outcome.FAILED)
        assert (judged.outcome is Outcome.FAILED) == bool(judged.violations)
