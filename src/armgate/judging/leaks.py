"""Reasoning that leaked into a text: marked blocks, orphan markers and channel words, with their extent."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import re2

from armgate.model.clauses.base import compiled
from armgate.model.clauses.hygiene import MarkerFamily
from armgate.model.clauses.markers import HARMONY_START, REASONING_FAMILIES

_BLANK = b" \t\r\n"
_OPEN_AT_ONCE = 100
"""Deeper opening markers than this are no nesting; the oldest then counts as never closed."""


class Leak(NamedTuple):
    """One leak, in bytes of the text. `leaked` is the reasoning that it lets out, white space aside."""

    kind: str
    """`block`, `empty_block`, `orphan_open`, `orphan_close` or `sign`."""
    family: str
    marker: str
    start: int
    end: int
    leaked: int


@dataclasses.dataclass(frozen=True)
class Markers:
    """Families prepared for one linear search."""

    pattern: re2._Regexp
    roles: dict[bytes, tuple[str, str]]
    """Marker -> (family, `open` | `close` | `sign`)."""


@lru_cache(maxsize=256)
def markers(families: tuple[MarkerFamily, ...]) -> Markers:
    roles: dict[bytes, tuple[str, str]] = {}
    for family in families:
        for role, texts in (("open", family.open), ("close", family.close), ("sign", family.signs)):
            roles.update({text.encode(): (family.family, role) for text in texts})
    # The longest alternative first: RE2 takes the first that matches.
    longest_first = sorted((marker.decode() for marker in roles), key=len, reverse=True)
    any_marker = "|".join(re2.escape(text) for text in longest_first)
    with_start = any(family.family == "harmony" for family in families)
    return Markers(compiled(f"{HARMONY_START}|{any_marker}" if with_start else any_marker), roles)


KNOWN = markers(REASONING_FAMILIES)


def find_leaks(data: bytes, known: Markers = KNOWN) -> Iterator[Leak]:
    """All leaks in order of where they end; the text is UTF-8 with surrogates passed."""
    open_blocks: list[tuple[str, str, int, int]] = []
    behind = 0
    for match in known.pattern.finditer(data):
        start, end = match.span()
        word = data[start:end]
        family, role = known.roles.get(word, ("harmony", "sign"))
        marker = word.decode("utf-8", "replace")
        if role == "open":
            open_blocks.append((family, marker, start, end))
            if len(open_blocks) > _OPEN_AT_ONCE:
                yield _never_closed(data, *open_blocks.pop(0))
            continue
        if role == "close":
            yield _closed(data, open_blocks, behind, (family, marker, start, end))
        else:
            yield Leak("sign", family, marker, start, end, len(data[end:].strip(_BLANK)))
        behind = end
    for opened in open_blocks:
        yield _never_closed(data, *opened)


def _never_closed(data: bytes, family: str, marker: str, start: int, end: int) -> Leak:
    return Leak("orphan_open", family, marker, start, len(data), len(data[end:].strip(_BLANK)))


def _closed(
    data: bytes, open_blocks: list[tuple[str, str, int, int]], behind: int, close: tuple[str, str, int, int]
) -> Leak:
    """The leak that a closing marker ends: a block if its family opened one, else all text before it."""
    family, marker, start, end = close
    if open_blocks and open_blocks[-1][0] == family:
        _, opening, begins, inner = open_blocks.pop()
        leaked = len(data[inner:start].strip(_BLANK))
        return Leak("block" if leaked else "empty_block", family, opening, begins, end, leaked)
    return Leak("orphan_close", family, marker, behind, end, len(data[behind:start].strip(_BLANK)))


def is_mention(data: bytes, leak: Leak) -> bool:
    """Whether the marker reads as a word about the tag: for probes that declare that they ask about it."""
    if leak.kind in ("block", "empty_block"):
        at_start = not data[: leak.start].strip(_BLANK)
        set_off = data[leak.end : leak.end + 1] in (b"", b"\n", b"\r") or b"\n" in data[leak.start : leak.end]
        return not (at_start and set_off)
    if leak.kind == "orphan_close":
        marker_at = leak.end - len(leak.marker.encode())
        line_start = data.rfind(b"\n", 0, marker_at) + 1
        line_end = data.find(b"\n", leak.end)
        line = data[line_start : line_end if line_end >= 0 else len(data)]
        return bool(line.strip(_BLANK) != leak.marker.encode())
    return leak.kind == "orphan_open" or bool(data[: leak.start].strip(_BLANK))
