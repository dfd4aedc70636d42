"""Where a value stands in a JSON text: the standard parser gives values, this gives lines and columns."""

from __future__ import annotations

import json
import re
from typing import TypeAlias

Place: TypeAlias = tuple[str | int, ...]
"""Keys and indexes from the root to a value."""

_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def line_and_column(text: str, place: Place) -> tuple[int, int]:
    """Line and column, from 1, of the value at `place`: of its key in an object, or as near as it exists.

    `text` is JSON that parses. Of a key that is there twice the first counts.
    """
    shown = at = _skip_blank(text, 0)
    for step in place:
        found = _child(text, at, step)
        if found is None:
            break
        shown, at = found
    line = text.count("\n", 0, shown) + 1
    return line, shown - text.rfind("\n", 0, shown)


def _child(text: str, at: int, step: str | int) -> tuple[int, int] | None:
    """Positions of the child's key (in a list, of the child) and of its value; `None` if it is not there."""
    if text[at] not in "{[" or (text[at] == "{") is not isinstance(step, str):
        return None
    at, index = _skip_blank(text, at + 1), 0
    while text[at] not in "}]":
        start: int = at
        name: str | int = index
        if isinstance(step, str):
            name, at = _DECODER.raw_decode(text, at)
            at = _skip_blank(text, _skip_blank(text, at) + 1)
        if name == step:
            return start, at
        at = _skip_blank(text, _DECODER.raw_decode(text, at)[1])
        at = _skip_blank(text, at + 1) if text[at] == "," else at
        index += 1
    return None


def _skip_blank(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at
