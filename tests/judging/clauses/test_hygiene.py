from __future__ import annotations

import pytest

from armgate.judging.subject import Subject
from armgate.model.response import Response
from support.judged import judged, kinds, quoted

LEAK = {"no_reasoning_leak": {}}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("<think>19*37</think>703", "block"),
        ("<think>\n\n</think>\n\n703", "empty_block"),
        ("19*37 = 703</think>703", "orphan_close"),
        ("703 <think>wait", "orphan_open"),
        ("<mm:think>x</mm:think>703", "block"),
        ("[THINK]x[/THINK]703", "block"),
        ("◁think▷x◁/think▷703", "block"),
        ("<|channel>thought\nx<channel|>703", "block"),
        ("analysisWe need 703", "sign"),
        ("703.assistantfinal703", "sign"),
    ],
)
def test_markers_of_every_family_are_found(text: str, kind: str) -> None:
    assert kinds(LEAK, text) == [kind]


def test_a_leak_names_its_marker_family_and_byte() -> None:
    violation = judged(LEAK, "정답 <think>x</think>")[0]
    assert "<think>" in violation.message
    assert "family think at byte 7" in violation.message
    assert violation.span == (7, 23)


def test_all_leaks_are_listed() -> None:
    assert kinds(LEAK, "<think>a</think> b </think> <think>c") == ["block", "orphan_close", "orphan_open"]


def test_ordinary_words_are_no_leak() -> None:
    for text in ("Let me think: 703", "analysis of it", "x < think > y", "Reasoning: 703", "a <b>think</b>"):
        assert judged(LEAK, text) == ()


def test_a_family_can_be_added_or_chosen() -> None:
    extra = {"extra": [{"family": "ours", "open": ["{{{"], "close": ["}}}"]}]}
    assert kinds({"no_reasoning_leak": extra}, "{{{x}}}703") == ["block"]
    assert judged({"no_reasoning_leak": {"families": ["mistral"]}}, "<think>x</think>") == ()


def test_a_mention_passes_where_the_contract_says_so() -> None:
    clause = {"no_reasoning_leak": {"allow_tag_words": True}}
    assert judged(clause, "Use the <think> tag, and </think> to close it.") == ()
    assert kinds(clause, "<think>\nhm\n</think>\nUse the tag.") == ["block"]
    assert kinds(clause, "hm\n</think>\nUse the tag.") == ["orphan_close"]


def test_leaks_are_judged_on_the_joined_text_of_any_channel() -> None:
    clause = {"no_reasoning_leak": {"channel": "reasoning"}}
    assert judged(clause, Response(content="703", reasoning=None)) == ()
    assert kinds(clause, Response(content="703", reasoning="</think>x")) == ["orphan_close"]


def test_control_tokens_do_not_belong_into_answers() -> None:
    assert kinds({"no_special_tokens": {}}, "703<|im_end|>") == ["special_token"]
    assert kinds({"no_special_tokens": {"extra": ["<eom>"]}}, "703<eom><|eot_id|>") == ["special_token"] * 2


def test_replacement_characters_are_counted_in_the_answer_and_on_the_wire() -> None:
    subject = Subject(Response(content="ok \ufffd\ufffd done \ufffd"), body="x\ufffd\ufffd\ufffd".encode())
    violations = judged({"no_replacement_characters": {}}, subject)
    assert [violation.span for violation in violations] == [(3, 9), (15, 18)]
    assert "2 U+FFFD" in violations[0].message
    assert "3 were in the recorded body" in violations[0].message


@pytest.mark.parametrize(
    "char", ["\u200b", "\ufeff", "\u00ad", "\u202e", "\x00", "\x1b", "\u2028", "\U000e0041"]
)
def test_characters_that_nobody_sees_are_named_with_their_place(char: str) -> None:
    violation = judged({"no_invisible_characters": {}}, f"ab\n정{char}c")[0]
    assert violation.kind == "invisible"
    assert f"U+{ord(char):04X}" in violation.message
    assert "line 2, column 2" in violation.message
    assert quoted(violation, f"ab\n정{char}c") == char


def test_odd_spaces_are_refused_unless_declared() -> None:
    assert kinds({"no_invisible_characters": {}}, "a\u00a0b\u3000c") == ["odd_space", "odd_space"]
    assert judged({"no_invisible_characters": {"odd_spaces": "allowed"}}, "a\u00a0b") == ()
    assert judged({"no_invisible_characters": {"allow": ["U+200B"]}}, "a\u200bb") == ()


def test_joiners_that_writing_needs_pass() -> None:
    for text in ("👩\u200d👩\u200d👧 ❤\ufe0f 1\ufe0f\u20e3", "می\u200cخواهم", "क्\u200dष", "tab\there\r\n"):
        assert judged({"no_invisible_characters": {}}, text) == ()
    assert kinds({"no_invisible_characters": {}}, "ab\u200dcd") == ["invisible"]


def test_loops_and_endless_blanks_are_degeneration() -> None:
    prose = "".join(f"Sentence {number} says {number * 37 % 101} things. " for number in range(60))
    assert judged({"no_degeneration": {}}, prose) == ()
    looping = prose + "I will list three tags... " * 12
    violation = judged({"no_degeneration": {}}, looping)[0]
    assert violation.kind == "loop"
    assert quoted(violation, looping).count("I will list three tags...") == 12
    blank = '{"items": ["a"  ' + "\n  " * 50
    assert kinds({"no_degeneration": {}}, blank) == ["endless_whitespace"]


def test_tables_and_rules_are_no_loops() -> None:
    for text in ("| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 5, "=" * 80, "    " * 20 + "x"):
        assert judged({"no_degeneration": {}}, text) == ()


def test_more_than_a_hundred_breaches_end_in_one_that_says_so() -> None:
    violations = judged({"no_invisible_characters": {}}, "x\u200b" * 5000)
    assert len(violations) == 101
    assert violations[-1].kind == "and_more"
