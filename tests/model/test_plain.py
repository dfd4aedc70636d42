"""Plain values: the wire's text and strict typed comparison."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armgate.model.plain import (
    DEPTH,
    Comparison,
    NotPlainError,
    decode,
    decode_prefix,
    encode,
    literal,
    same,
    same_float,
)

STRICT = Comparison()

keys = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
values = st.recursive(
    keys | st.floats() | st.text(st.characters(categories=["Cs", "L"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.sets(keys, max_size=4)
        | st.frozensets(keys, max_size=4)
        | st.dictionaries(keys, inner, max_size=4)
    ),
    max_leaves=12,
)


@given(values)
def test_text_and_back(value: object) -> None:
    again = decode(encode(value))
    assert same(again, value, STRICT)
    assert type(again) is type(value)


@given(st.text(alphabet="nbifsyltSZd[];0123456789abcdefx-~.", max_size=60) | st.text(max_size=30))
def test_any_text_is_a_value_or_refused(text: str) -> None:
    try:
        value = decode(text)
    except NotPlainError:
        return
    assert same(decode(encode(value)), value, STRICT)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "n;"),
        (True, "b1;"),
        (-31, "i-0x1f;"),
        (1.5, "f0x1.8000000000000p+0;"),
        ("é", "sc3a9;"),
        (b"\x00", "y00;"),
        ([(), {1}], "l[t[];S[i0x1;];];"),
        (frozenset([2]), "Z[i0x2;];"),
        ({"a": None}, "d[s61;n;];"),
    ],
)
def test_forms(value: object, text: str) -> None:
    assert encode(value) == text
    assert decode(text) == value


@pytest.mark.parametrize(
    "text",
    [
        *("", ";", "n", "b2;", "i5;", "i0x;", "i0xg;", "q;", "n;n;", "s0;", "sff;", "fx;", "y0;"),
        *("l[", "l[n;", "l[n;]", "d[n;];", "S[l[];];"),
    ],
)
def test_what_is_no_value(text: str) -> None:
    with pytest.raises(NotPlainError):
        decode(text)


def test_depth_is_bounded_both_ways() -> None:
    nested: list[object] = []
    for _ in range(DEPTH + 1):
        nested = [nested]
    with pytest.raises(NotPlainError):
        encode(nested)
    with pytest.raises(NotPlainError):
        decode("l[" * 5000 + "];" * 5000)


def test_a_prefix_says_where_it_ends() -> None:
    assert decode_prefix("i0x1;~n;") == (1, 5)
    assert decode_prefix("i0x1;~n;", 6) == (None, 8)


class Everything(int):
    """Equal to all: the kind of object that must never take part."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


def test_an_object_of_another_class_has_no_form() -> None:
    with pytest.raises(NotPlainError, match="Everything"):
        encode(Everything(1))


@pytest.mark.parametrize(
    ("observed", "expected"),
    [
        (True, 1),
        (1, True),
        (1.0, 1),
        (1, 1.0),
        ((1, 2), [1, 2]),
        ([1, 2], (1, 2)),
        ({1, 2}, [1, 2]),
        (frozenset({1}), {1}),
        ("1", 1),
        (b"a", "a"),
        (None, 0),
        (None, False),
        ([True], [1]),
        ({1: "a"}, {True: "a"}),
        ({True}, {1}),
        ({1.0}, {1}),
        ({"a": 1}, {"a": 1, "b": 2}),
        ([1], [1, 1]),
        ([], None),
        (float("nan"), None),
        (math.inf, -math.inf),
        (0.1 + 0.2, 0.3),
    ],
)
def test_strictly_different(observed: object, expected: object) -> None:
    assert not same(observed, expected, STRICT)


@pytest.mark.parametrize(
    ("observed", "expected"),
    [
        ({"b": 1, "a": 2}, {"a": 2, "b": 1}),
        ({1: {2: [3]}}, {1: {2: [3]}}),
        (float("nan"), float("nan")),
        (-0.0, 0.0),
        ({0.0: 1}, {-0.0: 1}),
        ({(1, 2), (3, 4)}, {(3, 4), (1, 2)}),
        ("\ud800", "\ud800"),
        ([10**5000], [10**5000]),
    ],
)
def test_strictly_the_same(observed: object, expected: object) -> None:
    assert same(observed, expected, STRICT)


def test_nan_as_declared() -> None:
    assert not same([math.nan], [math.nan], Comparison(nan="unequal"))


def test_tolerance_is_for_floats_only() -> None:
    rule = Comparison(float_rel=1e-9, float_abs=1e-9)
    assert same([0.1 + 0.2], [0.3], rule)
    assert not same(10**18 + 1, 10**18, rule)
    assert not same(1, 1.0, rule)
    assert not same({0.1 + 0.2}, {0.3}, rule)


def test_either_bound_suffices_and_infinity_is_not_near() -> None:
    assert same_float(1000.5, 1000.0, Comparison(float_rel=1e-3))
    assert not same_float(0.5, 0.0, Comparison(float_rel=1e-3))
    assert same_float(0.0005, 0.0, Comparison(float_rel=1e-3, float_abs=1e-3))
    assert not same_float(math.inf, 1.7e308, Comparison(float_rel=10.0))


def test_a_tuple_for_a_list_only_where_declared() -> None:
    rule = Comparison(sequences="any")
    assert same((1, [2]), [1, (2,)], rule)
    assert not same({1}, [1], rule)


def test_literals_are_cut_and_never_fail() -> None:
    assert literal([1, "a"]) == "[1, 'a']"
    assert len(literal("x" * 10_000)) <= 200
    assert literal([10**5000]).startswith("l[i0x")
