"""Plain data: the wire's tagged text to and from exact built-in values, and strict typed comparison of them.

The text forms, nested: `n;` none, `b1;` bool, `i0x1f;` int, `f0x1.8p+1;` float, `s<hex of UTF-8>;` str,
`y<hex>;` bytes, `l[...];` list, `t[...];` tuple, `S[...];` set, `Z[...];` frozenset, `d[k v ...];` dict.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Literal, TypeAlias

from armgate.model.base import Frozen

Plain: TypeAlias = Any
"""None, bool, int, float, str, bytes, and list, tuple, set, frozenset and dict of plain values."""

DEPTH = 64
"""Values nested deeper than this are not plain, here and in the sandbox."""


class NotPlainError(ValueError):
    """Text that is no wire form, or a value that has none."""


class Comparison(Frozen):
    """How an observed value is held against the expected one. The default is strict: `True` is not `1`,
    `1.0` is not `1`, a tuple is no list, the order of a dict's keys does not matter.

    A tolerance holds where the expected value is a float (for programs: where its token is a number) and
    passes when either bound does. `sequences: any` lets a tuple stand for a list, as JSON would have it.
    """

    numbers: Literal["strict"] = "strict"
    float_rel: float | None = None
    float_abs: float | None = None
    nan: Literal["equal", "unequal"] = "equal"
    sequences: Literal["strict", "any"] = "strict"
    stdout: Literal["lines", "exact"] = "lines"

    @property
    def tolerant(self) -> bool:
        return self.float_rel is not None or self.float_abs is not None


def encode(value: Plain) -> str:
    """The wire text of a plain value; NotPlainError for anything else."""
    return "".join(_pieces(value, 0))


_BRACKETS: dict[type, str] = {list: "l[", tuple: "t[", set: "S[", frozenset: "Z["}


def _pieces(value: Plain, depth: int) -> Iterable[str]:
    if depth > DEPTH:
        raise NotPlainError(f"nested deeper than {DEPTH}")
    kind = type(value)
    if kind in _SCALARS:
        yield _SCALARS[kind](value) + ";"
    elif kind in _BRACKETS:
        yield _BRACKETS[kind]
        for item in value:
            yield from _pieces(item, depth + 1)
        yield "];"
    elif kind is dict:
        yield "d["
        for key, item in value.items():
            yield from _pieces(key, depth + 1)
            yield from _pieces(item, depth + 1)
        yield "];"
    else:
        raise NotPlainError(f"a value of type {kind.__name__} is not plain data")


_SCALARS: dict[type, Callable[[Any], str]] = {
    type(None): lambda _: "n",
    bool: lambda value: f"b{value:d}",
    int: lambda value: "i" + hex(value),
    float: lambda value: "f" + value.hex(),
    str: lambda value: "s" + value.encode("utf-8", "surrogatepass").hex(),
    bytes: lambda value: "y" + value.hex(),
}


def decode(text: str) -> Plain:
    """The value of a whole wire text; NotPlainError for whatever is not exactly one value."""
    value, end = decode_prefix(text)
    if end != len(text):
        raise NotPlainError(f"{len(text) - end} characters after the value")
    return value


def decode_prefix(text: str, start: int = 0) -> tuple[Plain, int]:
    """The value that begins at `start`, and where it ends."""
    try:
        return _value(text, start, 0)
    except NotPlainError:
        raise
    except (ValueError, OverflowError, TypeError, IndexError) as error:
        raise NotPlainError(f"not a wire value: {type(error).__name__}") from None


def _value(text: str, at: int, depth: int) -> tuple[Plain, int]:
    if depth > DEPTH:
        raise NotPlainError(f"nested deeper than {DEPTH}")
    tag = text[at]
    if tag in _READERS:
        end = text.index(";", at)
        return _READERS[tag](text[at + 1 : end]), end + 1
    if tag not in _MAKERS or text[at + 1] != "[":
        raise NotPlainError("not a wire value")
    items, at = [], at + 2
    while text[at] != "]":
        item, at = _value(text, at, depth + 1)
        items.append(item)
    if text[at + 1] != ";":
        raise NotPlainError("not a wire value")
    return _MAKERS[tag](items), at + 2


def _none(text: str) -> None:
    if text:
        raise NotPlainError("not a wire value")


def _bool(text: str) -> bool:
    if text not in ("0", "1"):
        raise NotPlainError("not a wire value")
    return text == "1"


def _int(text: str) -> int:
    digits = text.removeprefix("-")
    if not digits.startswith("0x") or not all(c in "0123456789abcdef" for c in digits[2:]):
        raise NotPlainError("not a wire value")
    return int(text, 16)


def _dict(items: list[Plain]) -> dict[Plain, Plain]:
    if len(items) % 2:
        raise NotPlainError("a dict with a key and no value")
    return dict(zip(items[::2], items[1::2], strict=True))


_READERS: dict[str, Callable[[str], Plain]] = {
    "n": _none,
    "b": _bool,
    "i": _int,
    "f": float.fromhex,
    "s": lambda text: bytes.fromhex(text).decode("utf-8", "surrogatepass"),
    "y": bytes.fromhex,
}
_MAKERS: dict[str, Callable[[list[Plain]], Plain]] = {
    "l": list,
    "t": tuple,
    "S": set,
    "Z": frozenset,
    "d": _dict,
}


def same(observed: Plain, expected: Plain, rule: Comparison) -> bool:
    """Strict typed equality of two plain values. Keys and members of sets are compared exactly."""
    if type(expected) is float and type(observed) is float:
        return same_float(observed, expected, rule)
    if type(observed) is not type(expected):
        either = rule.sequences == "any" and {type(observed), type(expected)} == {list, tuple}
        return either and _same_items(observed, expected, rule)
    if type(expected) in (list, tuple):
        return _same_items(observed, expected, rule)
    if type(expected) in (set, frozenset):
        return {_identity(item) for item in observed} == {_identity(item) for item in expected}
    if type(expected) is dict:
        theirs = {_identity(key): item for key, item in observed.items()}
        ours = {_identity(key): item for key, item in expected.items()}
        return theirs.keys() == ours.keys() and all(same(theirs[key], ours[key], rule) for key in ours)
    return bool(observed == expected)


def _same_items(observed: Plain, expected: Plain, rule: Comparison) -> bool:
    return len(observed) == len(expected) and all(
        same(x, y, rule) for x, y in zip(observed, expected, strict=True)
    )


def _identity(key: Plain) -> Hashable:
    """Tells `1` from `True` and from `1.0`, which are one key to a dict. Zero has no sign here."""
    return encode(key + 0.0 if type(key) is float else key)


def same_float(observed: float, expected: float, rule: Comparison) -> bool:
    """Equal, or within a declared bound of a finite expected value. NaN matches NaN where `nan: equal`."""
    if math.isnan(expected) or math.isnan(observed):
        return rule.nan == "equal" and math.isnan(expected) and math.isnan(observed)
    if observed == expected:
        return True
    if math.isinf(observed) or math.isinf(expected):
        return False
    bound = max((rule.float_rel or 0.0) * abs(expected), rule.float_abs or 0.0)
    return abs(observed - expected) <= bound


def literal(value: Plain, limit: int = 200) -> str:
    """A value as a person reads it: its Python literal, cut in the middle beyond `limit` characters."""
    try:
        text = repr(value)
    except ValueError:  # CPython refuses to print integers beyond 4300 digits
        text = encode(value)
    if len(text) <= limit:
        return text
    half = (limit - 5) // 2
    return f"{text[:half]} ... {text[-half:]}"
