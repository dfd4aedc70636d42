"""Hostile text: visible, and inert wherever a reader's program would act on it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from armgate.reporting.inert import cell, code_point, markdown, one_line, visible

ANY_TEXT = st.text(st.characters(categories=None))


@given(ANY_TEXT)
def test_nothing_unseen_is_left_and_ordinary_text_stays(text: str) -> None:
    shown = visible(text)
    assert not re.search(
        "[\x00-\x08\x1b\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", shown
    )
    shown.encode()
    assert visible("Grüße, 日本 😀\n\ttab") == "Grüße, 日本 😀\n\ttab"


def test_what_cannot_be_shown_has_a_name() -> None:
    assert code_point("\u202e") == "U+202E"
    assert code_point("\udcff") == "byte FF"
    assert visible("\x1b[31m") == "<U+001B>[31m"


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\uff1d1", "|x", "%x"])
def test_a_cell_that_could_begin_a_formula_is_text(text: str) -> None:
    assert cell(text) == "'" + one_line(text)


@given(ANY_TEXT)
def test_a_cell_is_one_line_that_begins_no_formula(text: str) -> None:
    made = cell(text)
    assert "\n" not in made
    assert "\r" not in made
    assert not made.lstrip(" ").startswith(("=", "+", "-", "@"))


@given(ANY_TEXT)
def test_markdown_renders_as_the_text_itself(text: str) -> None:
    html = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(f"x{markdown(text)}x")
    tags = set(re.findall(r"</?([a-z]+)", html))
    assert tags <= {"p"}
