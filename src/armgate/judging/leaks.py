"""Reasoning that leaked into a text: marked blocks, orphan markers and channel words, with their extent."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import re2

from armgate.model.clauses.base import compiled
from armgate.model.clauses.markers import HARMONY_START, REASONING_FAMILIES, MarkerFamily

_BLANK = b" \t\r\n"
_SOMETHING = re.compile(rb"[^ \t\r\n]")
_LINE = 200
"""Bytes around a closing marker in which its line is looked for."""

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
    behind, text_end = 0, len(data.rstrip(_BLANK))
    for match in known.pattern.finditer(data):
        start, end = match.span()
        word = data[start:end]
        family, role = known.roles.get(word, ("harmony", "sign"))
        marker = word.decode("utf-8", "replace")
        if role == "open":
            open_blocks.append((family, marker, start, end))
            if len(open_blocks) > _OPEN_AT_ONCE:
                yield _never_closed(data, text_end, *open_blocks.pop(0))
            continue
        if role == "close":
            yield _closed(data, open_blocks, behind, (family, marker, start, end))
        else:
            yield Leak("sign", family, marker, start, end, _text_behind(data, end, text_end))
        behind = end
    for opened in open_blocks:
        yield _never_closed(data, text_end, *opened)


def _never_closed(data: bytes, text_end: int, family: str, marker: str, start: int, end: int) -> Leak:
    return Leak("orphan_open", family, marker, start, len(data), _text_behind(data, end, text_end))


def _text_behind(data: bytes, at: int, text_end: int) -> int:
    """Bytes from the first that is no white space at or behind `at`, to the text's end."""
    first = _SOMETHING.search(data, at)
    return max(text_end - first.start(), 0) if first else 0


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


def is_mention(data: bytes, leak: Leak, text_start: int) -> bool:
    """Whether the marker reads as a word about the tag: for probes that declare that they ask about it.

    `text_start` is the first byte of the text that is no white space.
    """
    if leak.kind in ("block", "empty_block"):
        set_off = (
            data[leak.end : leak.end + 1] in (b"", b"\n", b"\r")
            or data.find(b"\n", leak.start, leak.end) >= 0
        )
        return not (leak.start <= text_start and set_off)
    if leak.kind == "orphan_close":
        before = data[max(0, leak.end - _LINE) : leak.end - len(leak.marker.encode())]
        behind = data[leak.end : leak.end + _LINE]
        line = before.rpartition(b"\n")[2] + behind.partition(b"\n")[0]
        return bool(line.strip(_BLANK))
    return leak.kind == "orphan_open" or leak.start > text_start
