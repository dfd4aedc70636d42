"""Hostile text stays text in a terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armgate.cli.output import inert


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("a\nb", "a\\nb"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\ud800", "\\ud800"),
        ("Füße 한국어", "Füße 한국어"),
        ("a b", "a b"),
    ],
)
def test_control_and_format_characters_become_escapes(hostile: str, shown: str) -> None:
    assert inert(hostile) == shown


@given(st.text(st.characters(categories=None)))
def test_what_is_shown_is_printable(text: str) -> None:
    assert inert(text).isprintable()
    inert(text).encode("utf-8")
