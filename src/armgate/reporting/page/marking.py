"""A reply as HTML: violating byte spans marked, unseen characters named, long texts cut between marks."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup, escape

from armgate.reporting.inert import UNSEEN, code_point

CONTEXT_BYTES = 240
"""Shown on either side of a marked span in a text that is too long to be shown whole."""

Span = tuple[int, int]
_WHITE = re.compile(r"[ \t\n\r]+")


@dataclasses.dataclass(frozen=True)
class Shown:
    """A text as drawn. `omitted_bytes` counts what was left out; `marked` lists the spans that are in it."""

    html: Markup
    omitted_bytes: int
    marked: tuple[int, ...]


def shown(text: str, spans: Mapping[int, Span], limit_bytes: int) -> Shown:
    """`text` with `spans` marked by their numbers. Spans are byte ranges of its UTF-8 (surrogatepass).

    A text longer than `limit_bytes` is shown around its spans, or from its beginning where it has none.
    """
    data = text.encode("utf-8", "surrogatepass")
    whole = {number: _whole_characters(data, span) for number, span in spans.items()}
    windows = _windows(len(data), list(whole.values()), limit_bytes)
    aligned = [_whole_characters(data, window) for window in windows]
    pieces, at = [], 0
    for start, end in aligned:
        pieces += [_gap(start - at), *_window(data, start, end, whole)]
        at = end
    pieces.append(_gap(len(data) - at))
    kept = sum(end - start for start, end in aligned)
    seen = [n for n, (start, _) in whole.items() if any(a <= start <= b for a, b in aligned)]
    return Shown(Markup("").join(pieces), len(data) - kept, tuple(seen))


def _whole_characters(data: bytes, span: Span) -> Span:
    """The span, inside the text and widened to whole characters where it cuts one."""
    start, end = (min(max(edge, 0), len(data)) for edge in span)
    end = max(start, end)
    while 0 < start < len(data) and data[start] & 0xC0 == 0x80:
        start -= 1
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    return start, end


def _windows(size: int, spans: Sequence[Span], limit: int) -> list[Span]:
    if size <= limit:
        return [(0, size)]
    wanted = sorted(
        (max(start - CONTEXT_BYTES, 0), min(end, start + limit // 2) + CONTEXT_BYTES) for start, end in spans
    )
    windows: list[Span] = []
    for start, end in wanted or [(0, limit)]:
        if windows and start <= windows[-1][1]:
            windows[-1] = (windows[-1][0], max(windows[-1][1], min(end, size)))
        elif sum(b - a for a, b in windows) < limit:
            windows.append((start, min(end, size)))
    return windows


def _gap(count: int) -> Markup:
    if count <= 0:
        return Markup("")
    return Markup('<span class="gap">{} bytes not shown here</span>').format(f"{count:,}")


def _window(data: bytes, start: int, end: int, spans: Mapping[int, Span]) -> Iterator[Markup]:
    """The pieces of one window, cut wherever a span begins or ends."""
    edges = {edge for span in spans.values() for edge in span if start <= edge <= end} | {start, end}
    cuts = sorted(edges)
    for at, until in zip(cuts, [*cuts[1:], end], strict=True):
        yield from (_point(n) for n, span in spans.items() if span == (at, at))
        covering = [n for n, (a, b) in spans.items() if a <= at and until <= b and a < b]
        piece = data[at:until].decode("utf-8", "surrogatepass")
        if piece:
            yield _mark(piece, covering) if covering else drawn(piece)


def _point(number: int) -> Markup:
    """A span of no length: something is missing here."""
    return Markup('<mark class="point" title="violation {0}"><sup>{0}</sup></mark>').format(number)


def _mark(piece: str, numbers: Sequence[int]) -> Markup:
    inside = _white(piece) if _WHITE.fullmatch(piece) else drawn(piece)
    label = ", ".join(map(str, numbers))
    return Markup('<mark title="violation {0}">{1}<sup>{0}</sup></mark>').format(label, inside)


def _white(piece: str) -> Markup:
    """Marked white space, which would be a mark that nobody sees."""
    names = {" ": "space", "\t": "tab", "\n": "newline", "\r": "return"}
    named = Markup("").join(Markup('<span class="cp">{}</span>').format(names[char]) for char in piece[:8])
    return named + (Markup(" and {} more").format(len(piece) - 8) if len(piece) > 8 else Markup(""))


def drawn(text: str) -> Markup:
    """Any text as inert HTML, every character that cannot be seen written as its code point."""
    pieces, at = [], 0
    for match in UNSEEN.finditer(text):
        name = Markup('<span class="cp">{}</span>').format(code_point(match[0]))
        pieces += [escape(text[at : match.start()]), name]
        at = match.end()
    return Markup("").join([*pieces, escape(text[at:])])
