"""Replies as HTML: spans by bytes, whole characters, nothing active, nothing unseen."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armgate.reporting.page.marking import drawn, shown

ANY_TEXT = st.text(st.characters(categories=None), max_size=200)
SPANS = st.tuples(st.integers(0, 300), st.integers(0, 300))
MARK = re.compile(r'<mark title="violation ([\d, ]+)">(.*?)<sup>[\d, ]+</sup></mark>', re.S)


def marked(text: str, *spans: tuple[int, int], limit: int = 10_000) -> list[tuple[str, str]]:
    made = shown(text, dict(enumerate(spans, 1)), limit)
    return [(number, html.unescape(piece)) for number, piece in MARK.findall(str(made.html))]


def test_spans_are_bytes_and_marks_are_characters() -> None:
    text = "aé日😀z"
    assert marked(text, (1, 3)) == [("1", "é")]
    assert marked(text, (3, 6), (6, 10)) == [("1", "日"), ("2", "😀")]


def test_a_span_that_cuts_a_character_marks_it_whole() -> None:
    assert marked("日本", (1, 4)) == [("1", "日本")]


def test_spans_that_overlap_are_marked_with_all_their_numbers() -> None:
    assert marked("abcdef", (0, 4), (2, 6)) == [("1", "ab"), ("1, 2", "cd"), ("2", "ef")]


def test_a_span_of_no_length_points_at_its_place() -> None:
    made = shown("abc", {7: (3, 3)}, 100)
    assert str(made.html).startswith('abc<mark class="point" title="violation 7">')


def test_marked_white_space_is_named() -> None:
    assert '<span class="cp">newline</span>' in shown("a\n", {1: (1, 2)}, 100).html


def test_a_long_text_is_shown_around_its_spans_and_says_what_is_missing() -> None:
    text = "a" * 50_000 + "BAD" + "b" * 50_000
    made = shown(text, {1: (50_000, 50_003)}, 1_000)
    assert MARK.findall(str(made.html)) == [("1", "BAD")]
    assert made.omitted_bytes == len(text) - 3 - 2 * 240
    assert "49,760 bytes not shown here" in made.html
    assert made.marked == (1,)


def test_a_violation_as_long_as_the_text_is_cut() -> None:
    made = shown("x" * 10_000_000, {1: (0, 10_000_000)}, 1_500)
    assert len(made.html) < 3_000
    assert made.omitted_bytes > 9_990_000


@pytest.mark.parametrize("span", [(-5, 2), (4, 2), (90, 99), (0, 10**9)])
def test_a_span_outside_the_text_breaks_nothing(span: tuple[int, int]) -> None:
    made = shown("abc", {1: span}, 100)
    assert re.sub("<[^>]+>|1", "", str(made.html)) == "abc"


@given(
    ANY_TEXT, st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300)), max_size=5), st.integers(1, 400)
)
def test_any_text_is_drawn_inert(text: str, spans: list[tuple[int, int]], limit: int) -> None:
    made = str(shown(text, dict(enumerate(spans, 1)), limit).html)
    assert set(re.findall(r"</?(\w+)", made)) <= {"mark", "sup", "span"}
    made.encode()


def test_unseen_characters_are_named_in_their_place() -> None:
    text = "a\u202eb\x1bc\udcffd"
    named = [f'<span class="cp">{name}</span>' for name in ("U+202E", "U+001B", "byte FF")]
    assert drawn(text) == f"a{named[0]}b{named[1]}c{named[2]}d"
