from __future__ import annotations

import pytest

from armgate.judging.clauses.wording import count_lines, count_sentences
from armgate.model.response import Response
from support.judged import judged, kinds, quoted

EXACT = {"exact": {"text": "703"}}
TRIMMED = {"exact": {"text": "703", "whitespace": "trim_ascii_ws"}}


def test_exact_passes_only_the_text_itself() -> None:
    assert judged(EXACT, "703") == ()
    assert judged({"exact": {"any_of": ["yes", "no"]}}, "no") == ()


@pytest.mark.parametrize(
    ("answer", "kind", "span"),
    [
        ("703\n", "whitespace", "\n"),
        ("\n\n703", "whitespace", "\n\n"),
        ("703.", "punctuation", "."),
        ("**703**", "markdown", "**703**"),
        ("\\boxed{703}", "markdown", "\\boxed{703}"),
        ("７０３", "lookalike", "７０３"),
        ("703\u200b", "lookalike", "\u200b"),
        ("٧٠٣", "lookalike", "٧٠٣"),
        ("정답은 703입니다.", "extra_text", "정답은 703입니다."),
        ("70", "truncated", ""),
        ("", "empty", ""),
        ("704", "different", "4"),
    ],
)
def test_exact_says_how_the_text_differs_and_where(answer: str, kind: str, span: str) -> None:
    violations = judged(EXACT, answer)
    assert [violation.kind for violation in violations] == [kind]
    assert quoted(violations[0], answer) == span


def test_the_declared_policy_trims_ascii_white_space_only() -> None:
    assert judged(TRIMMED, " \t703\r\n") == ()
    assert kinds(TRIMMED, "703\u00a0") == ["lookalike"]
    assert kinds(TRIMMED, "\u3000703") == ["lookalike"]
    assert kinds(TRIMMED, "703\x0b") != []


def test_exact_never_compares_numbers() -> None:
    for answer in ("0703", "703.0", "+703", "7_03"):
        assert judged(EXACT, answer)


def test_a_null_channel_breaches_what_demands_text() -> None:
    for clause in (EXACT, {"contains": {"texts": ["a"]}}, {"regex": {"pattern": "a"}}):
        assert kinds(clause, Response(content=None, finish_reason="stop")) == ["null_channel"]


def test_an_empty_answer_shows_no_absence_unless_a_tool_was_called() -> None:
    clause = {"not_contains": {"texts": ["sorry"]}}
    assert kinds(clause, "") == ["nothing_to_judge"]
    assert kinds(clause, Response(content=None)) == ["nothing_to_judge"]


def test_contains_counts_and_respects_token_boundaries() -> None:
    clause = {"contains": {"texts": ["MARK-4417"], "boundary": "token"}}
    assert judged(clause, "It is MARK-4417.") == ()
    assert kinds(clause, "MARK-44170") == ["missing"]
    assert kinds(clause, "XMARK-4417") == ["missing"]
    assert kinds({"contains": {"texts": ["a"], "times": {"max": 1}}}, "a a") == ["wrong_number"]
    assert judged({"contains": {"texts": ["HELLO"], "case": "ignore_ascii"}}, "hello") == ()


def test_not_contains_lists_every_occurrence_with_bytes() -> None:
    text = "정답: no, no"
    violations = judged({"not_contains": {"texts": ["no"]}}, text)
    assert [violation.span for violation in violations] == [(8, 10), (12, 14)]
    assert all(quoted(violation, text) == "no" for violation in violations)


def test_regex_is_anchored_only_where_it_says_so() -> None:
    assert kinds({"regex": {"pattern": "[0-9]+"}}, "703 ") == ["no_match"]
    assert judged({"regex": {"pattern": "[0-9]+", "match": "search"}}, "is 703 ") == ()
    assert kinds({"regex": {"pattern": "[0-9]+", "match": "never"}}, "1 and 2") == ["match", "match"]


def test_regex_can_name_the_only_matches_allowed() -> None:
    clause = {"regex": {"pattern": "MARK-[0-9]+", "match": "search", "only": ["MARK-4417"]}}
    assert judged(clause, "MARK-4417, I say MARK-4417") == ()
    assert kinds(clause, "MARK-4471 or MARK-4417") == ["other_match"]
    assert kinds(clause, "nothing") == ["no_match"]


def test_lengths_are_measured_each_in_its_unit() -> None:
    text = "하나. 둘!\nThree words here"
    for unit, size in (("bytes", len(text.encode())), ("characters", len(text)), ("lines", 2), ("words", 5)):
        assert judged({"length": {unit: {"min": size, "max": size}}}, text) == ()
        assert kinds({"length": {unit: {"min": size + 1}}}, text) == [unit]
    assert judged({"length": {"sentences": {"min": 3, "max": 3}}}, text) == ()


def test_lines_count_every_kind_of_line_end_once() -> None:
    assert [count_lines(text) for text in ("", "a", "a\n", "a\r\nb\rc\n", "\n\n")] == [0, 1, 1, 3, 2]


def test_sentences_end_at_marks_before_white_space() -> None:
    cases = {
        "": 0,
        "One.": 1,
        "One. Two": 2,
        "3.14 is pi.": 1,
        "はい。いいえ。": 2,
        "What?! No...": 2,
        "...": 0,
    }
    assert {text: count_sentences(text.encode()) for text in cases} == cases
