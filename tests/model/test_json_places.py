from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from armgate.model.json_places import Place, line_and_column

TEXT = """
{
  "a": [1, {"b\\"c": null}],
  "d" : "x,]}",  "e": {}
}
"""


def test_keys_and_items_are_found() -> None:
    assert line_and_column(TEXT, ()) == (2, 1)
    assert line_and_column(TEXT, ("a",)) == (3, 3)
    assert line_and_column(TEXT, ("a", 1)) == (3, 12)
    assert line_and_column(TEXT, ("a", 1, 'b"c')) == (3, 13)
    assert line_and_column(TEXT, ("e",)) == (4, 18)


def test_of_what_is_not_there_the_nearest_place_is_told() -> None:
    assert line_and_column(TEXT, ("a", 7)) == (3, 3)
    assert line_and_column(TEXT, ("a", "b")) == (3, 3)
    assert line_and_column(TEXT, ("d", "b")) == (4, 3)
    assert line_and_column("5", ("a",)) == (1, 1)


VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


def places(value: Any, at: Place = ()) -> list[tuple[Place, Any]]:
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    return [(at, value), *(found for key, child in children for found in places(child, (*at, key)))]


@given(VALUES, st.sampled_from([None, 1, "\t"]))
def test_every_value_is_found_where_it_stands(value: Any, indent: Any) -> None:
    text = json.dumps(value, indent=indent)
    lines = text.split("\n")
    for place, found in places(value):
        line, column = line_and_column(text, place)
        here = "\n".join([lines[line - 1][column - 1 :], *lines[line:]])
        start = json.dumps(place[-1]) if place and isinstance(place[-1], str) else json.dumps(found)[:1]
        assert here.startswith(start)
