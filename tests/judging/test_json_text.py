from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from armgate.judging.json_text import read_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=4), below, max_size=4),
    max_leaves=12,
)


@given(VALUES, st.sampled_from([None, 1, "\t"]))
def test_what_the_standard_library_writes_is_read_back(value: object, indent: int | str | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    read = read_json(text)
    assert read.readable
    assert json.dumps(read.value) == json.dumps(value)


@given(VALUES)
def test_every_value_stands_where_it_is_said_to_stand(value: object) -> None:
    text = " " + json.dumps(value)
    read = read_json(text)

    def check(node: object, path: tuple[str | int, ...]) -> None:
        start, end = read.span(path)
        assert json.loads(text[start:end]) == node
        children = (
            node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        )
        for key, below in children:
            check(below, (*path, key))

    check(value, ())


@given(st.text())
def test_no_text_raises(text: str) -> None:
    read = read_json(text)
    assert read.readable or all(0 <= flaw.start <= flaw.end <= len(text) for flaw in read.flaws)


def test_the_places_of_a_duplicate_are_those_of_the_last() -> None:
    read = read_json('{"a": 1, "a": [2]}')
    assert read.span(("a",)) == (14, 17)
    assert read.span(("a", 0)) == (15, 16)
    assert [flaw.kind for flaw in read.doubts] == ["duplicate_key"]
