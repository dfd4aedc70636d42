from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from armgate.judging.text import Text

ANY = st.text(st.characters() | st.sampled_from("\ud800\udcff"), max_size=200)


@given(ANY, st.integers(0, 200), st.integers(0, 200))
def test_spans_are_byte_offsets_with_surrogates_kept(value: str, one: int, other: int) -> None:
    start, end = sorted((min(one, len(value)), min(other, len(value))))
    text = Text("content", value)
    span = text.span(start, end)
    assert text.data[slice(*span)].decode("utf-8", "surrogatepass") == value[start:end]


def test_offsets_stay_right_beyond_the_blocks_that_they_are_counted_in() -> None:
    value = "정a" * 5000
    text = Text("content", value, base=7)
    for char in (0, 1, 4095, 4096, 4097, 8192, 9999, 10_000):
        assert text.span(char, char)[0] == 7 + len(value[:char].encode())


def test_places_are_lines_and_columns_in_any_order() -> None:
    text = Text("content", "ab\r\nc\rd\ne")
    places = ["line 1, column 2", "line 2, column 1", "line 3, column 1", "line 4, column 1"]
    assert [text.place(char) for char in (1, 4, 6, 8)] == places
    assert text.place(1) == places[0]


@given(st.text("a\r\n정", max_size=40), st.lists(st.integers(0, 40), max_size=5))
def test_places_do_not_depend_on_what_was_asked_before(value: str, chars: list[int]) -> None:
    text = Text("content", value)
    for char in (min(char, len(value)) for char in chars):
        assert text.place(char) == Text("content", value).place(char)


def test_prose_is_what_stands_outside_the_blocks() -> None:
    assert Text("content", "a\n```\nb\n```\nc\n```\nd").prose == "a\nc\n"
