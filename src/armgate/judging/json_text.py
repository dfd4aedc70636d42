"""A text read as one JSON value, strictly: what is wrong with it and where, never repaired, never raising."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from armgate.judging import limits
from armgate.model.base import Json

WHITESPACE = " \t\n\r"
EXACT_INTEGER = 2**53 - 1
"""The largest integer that every JSON reader keeps exactly (RFC 7493, section 2.2)."""

_HUGE: int = 10**limits.INTEGER_DIGITS
_STRUCTURE = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{},]', re.DOTALL)
_TOKEN = re.compile(
    r'[ \t\n\r]*+(?:("(?:[^"\\]++|\\.)*+")|([\[\]{},:])|([^\s\[\]{},:"]++))',
    re.DOTALL,
)
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")

Path = tuple[str | int, ...]


class Flaw(NamedTuple):
    """One thing wrong with the text, at characters `start` to `end`."""

    kind: str
    message: str
    start: int
    end: int


@dataclasses.dataclass
class Places:
    """Where each value stands (character offsets), and which keys and numbers need a closer look."""

    values: dict[Path, tuple[int, int]] = dataclasses.field(default_factory=dict)
    flaws: list[Flaw] = dataclasses.field(default_factory=list)


class JsonRead:
    """What came of reading. `flaws` means that the text is no JSON document; otherwise `value` is it."""

    def __init__(self, text: str, value: Json, flaws: tuple[Flaw, ...], doubtful: bool) -> None:
        self._text = text
        self.value = value
        self.flaws = flaws
        self._doubtful = doubtful

    @property
    def readable(self) -> bool:
        return not self.flaws

    @cached_property
    def places(self) -> Places:
        return _locate(self._text)

    @cached_property
    def doubts(self) -> tuple[Flaw, ...]:
        """Duplicate keys, numbers not finite or not exact, lone surrogates: what some readers let pass."""
        if self.flaws or not (self._doubtful or _SURROGATE_ESCAPE.search(self._text)):
            return ()
        return tuple(self.places.flaws)

    def span(self, path: Path) -> tuple[int, int]:
        """Characters of the value at `path`, or of the whole document."""
        return self.places.values.get(path, (0, len(self._text)))


class _Reader:
    """The hooks of one decoding: they only note that something is doubtful; places are found afterwards."""

    def __init__(self) -> None:
        self.doubtful = False
        self.decoder = json.JSONDecoder(
            object_pairs_hook=self._pairs,
            parse_float=self._float,
            parse_int=self._int,
            parse_constant=self._constant,
        )

    def _pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        out = dict(pairs)
        self.doubtful = self.doubtful or len(out) != len(pairs)
        return out

    def _float(self, digits: str) -> float:
        value = float(digits)
        self.doubtful = self.doubtful or math.isinf(value)
        return value

    def _int(self, digits: str) -> int:
        if len(digits) < 16:
            return int(digits)
        self.doubtful = True
        if len(digits) <= limits.INTEGER_DIGITS:
            return int(digits)
        return -_HUGE if digits.startswith("-") else _HUGE

    def _constant(self, word: str) -> float:
        self.doubtful = True
        return float(word)


def read_json(text: str) -> JsonRead:
    """Read `text` as one JSON value with nothing but JSON white space around it."""
    flaw = _oversize(text)
    if flaw is not None:
        return JsonRead(text, None, (flaw,), False)
    reader = _Reader()
    try:
        return JsonRead(text, reader.decoder.decode(text), (), reader.doubtful)
    except json.JSONDecodeError as error:
        return JsonRead(text, None, tuple(_flaws(text, error)), False)


def _oversize(text: str) -> Flaw | None:
    """A flaw where a text is too long, too deep or has too many values to be read in bounded time."""
    if len(text) > limits.JSON_CHARS:
        return Flaw("too_large", f"longer than {limits.JSON_CHARS} characters, not parsed", 0, len(text))
    opened = text.count("[") + text.count("{")
    if opened <= limits.JSON_DEPTH and text.count(",") + opened <= limits.JSON_VALUES:
        return None
    depth = values = 0
    for match in _STRUCTURE.finditer(text):
        mark = text[match.start()]
        if mark in "[{":
            depth += 1
        elif mark in "]}":
            depth -= 1
        values += mark in "[{,"
        if depth > limits.JSON_DEPTH:
            message = f"nested deeper than {limits.JSON_DEPTH} levels, not parsed"
            return Flaw("too_deep", message, match.start(), len(text))
        if values > limits.JSON_VALUES:
            message = f"more than {limits.JSON_VALUES} values, not parsed"
            return Flaw("too_large", message, match.start(), len(text))
    return None


def _flaws(text: str, error: json.JSONDecodeError) -> Iterator[Flaw]:
    """What is wrong with a text that is no JSON document: what surrounds a value, else where it breaks."""
    if not text.strip(WHITESPACE):
        yield Flaw("empty", "no JSON value at all", 0, len(text))
        return
    if text.startswith("\ufeff"):
        yield Flaw("byte_order_mark", "begins with a byte order mark (U+FEFF)", 0, 1)
        return
    start = _begins(text)
    found = _decoded_from(text, start)
    if found is None:
        end = min(error.pos + 1, len(text))
        message = f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        yield Flaw("not_json", message, error.pos, max(end, error.pos))
        return
    before, after = text[:start], text[found:]
    if before.strip(WHITESPACE):
        fenced = before.rstrip().rpartition("\n")[2].startswith(("```", "~~~"))
        kind = "fenced" if fenced else "leading_text"
        yield Flaw(kind, f"text before the JSON value: {_short(before)}", 0, start)
    if after.strip(WHITESPACE):
        yield Flaw("trailing_text", f"text after the JSON value: {_short(after)}", found, len(text))


def _begins(text: str) -> int:
    """Where the first value may start: at the first character, or at the first bracket in a text."""
    start = len(text) - len(text.lstrip(WHITESPACE))
    if text[start] in '{["-0123456789tfn' and _decoded_from(text, start) is not None:
        return start
    brackets = [at for at in (text.find("{"), text.find("[")) if at >= 0]
    return min(brackets, default=start)


def _decoded_from(text: str, start: int) -> int | None:
    """Where the JSON value that starts at `start` ends; `None` if none does."""
    try:
        return _Reader().decoder.raw_decode(text, start)[1]
    except json.JSONDecodeError:
        return None


def _short(text: str) -> str:
    shown = text.strip(WHITESPACE)
    return repr(shown if len(shown) <= 40 else shown[:37] + "...")


@dataclasses.dataclass
class _Open:
    """A container being walked."""

    start: int
    path: Path
    is_object: bool
    keys: set[str] = dataclasses.field(default_factory=set)
    key: str | None = None
    index: int = 0

    @property
    def below(self) -> Path:
        return (*self.path, self.key or "") if self.is_object else (*self.path, self.index)


def _locate(text: str) -> Places:
    """Walk a text that was decoded before, so its grammar is known to hold."""
    places, stack = Places(), [_Open(0, (), is_object=False)]
    for match in _TOKEN.finditer(text):
        group = match.lastindex or 0
        start, end = match.span(group)
        inside, mark = stack[-1], text[start]
        if group == 1 and inside.is_object and inside.key is None:
            _take_key(inside, text, start, end, places)
        elif mark == ",":
            inside.index += 1
            inside.key = None
        elif mark in "]}":
            done = stack.pop()
            places.values[done.path] = (done.start, end)
        elif mark != ":":
            path = inside.below if len(stack) > 1 else ()
            if mark in "[{":
                stack.append(_Open(start, path, mark == "{"))
            else:
                places.values[path] = (start, end)
                places.flaws += _scalar_flaws(text[start:end], start, end)
    return places


def _take_key(inside: _Open, text: str, start: int, end: int, places: Places) -> None:
    key = _string(text[start:end])
    if key in inside.keys:
        places.flaws.append(Flaw("duplicate_key", f"the key {_short(key)} stands twice", start, end))
    inside.keys.add(key)
    inside.key = key
    places.flaws += _scalar_flaws(text[start:end], start, end)


def _string(token: str) -> str:
    if "\\" not in token:
        return token[1:-1]
    value: str = json.loads(token)
    return value


def _scalar_flaws(token: str, start: int, end: int) -> Iterator[Flaw]:
    if token[0] == '"':
        if _SURROGATE_ESCAPE.search(token) and _SURROGATE.search(_string(token)):
            yield Flaw("lone_surrogate", "a lone surrogate: no UTF-8 text can hold it", start, end)
    elif token in ("NaN", "Infinity", "-Infinity"):
        yield Flaw("not_finite", f"{token} is no JSON number", start, end)
    elif token[0] in "-0123456789":
        yield from _number_flaws(token, start, end)


def _number_flaws(token: str, start: int, end: int) -> Iterator[Flaw]:
    if not token.lstrip("-").isdigit():
        if math.isinf(float(token)):
            yield Flaw("not_finite", f"{_short(token)} overflows to infinity", start, end)
        return
    digits = len(token.lstrip("-"))
    if digits > limits.INTEGER_DIGITS:
        yield Flaw("huge_integer", f"an integer of {digits} digits", start, end)
    elif digits > 15 and abs(int(token)) > EXACT_INTEGER:
        yield Flaw("big_integer", f"{_short(token)} is beyond 2**53 - 1", start, end)
