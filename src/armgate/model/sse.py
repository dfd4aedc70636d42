"""Server-sent events out of bytes: incremental, byte-exact, indifferent to how reads cut the stream."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import repeat
from typing import NamedTuple

DONE = b"[DONE]"

_BOM = b"\xef\xbb\xbf"
_BLANK_LINES = (b"\n\n", b"\r\n\r\n", b"\r\r")
_LINE_END = re.compile(rb"\r\n|\r|\n")


class SseEvent(NamedTuple):
    """One event. `end` is the offset in the stream just behind its last data byte.

    `closed` is false for an event that only the end of the stream brought out. `kind` is the event's
    name (`event: error`); data under the field `error:`, as llama.cpp sends it, has the kind `error`.
    """

    data: bytes
    end: int
    kind: bytes = b""
    closed: bool = True


class SseParser:
    """Feeds on reads, yields events. Follows WHATWG's event stream rules with one leniency: `flush`.

    The rules discard an event without its blank line at the end of the stream; real servers leave it
    out, so `flush` brings the event out, marked as not closed.
    """

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._line_start = 0
        self._skip_lf = False
        self._data: list[bytes] = []
        self._end = 0
        self._kind = b""

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Events that this read completes."""
        if self._skip_lf and chunk:
            self._skip_lf = False
            if chunk[0] == 0x0A:
                chunk = chunk[1:]
                self._line_start += 1
        if b"\n" not in chunk and b"\r" not in chunk:
            # Joining only at a line's end keeps one huge line in many reads linear.
            self._rest.append(chunk)
            return []
        text = b"".join((*self._rest, chunk))
        if b"\r" in text:
            return self._feed_any_line_ends(text)
        lines = text.split(b"\n")
        self._rest = [lines.pop()]
        return self._take(lines, repeat(1, len(lines)))

    def flush(self) -> list[SseEvent]:
        """The event that the stream's end leaves without its blank line, if there is one."""
        rest = b"".join(self._rest)
        self._rest = []
        if rest:
            self._take([rest], [0])
        return [self._event(closed=False)] if self._data else []

    def _feed_any_line_ends(self, text: bytes) -> list[SseEvent]:
        lines: list[bytes] = []
        widths: list[int] = []
        start = 0
        for ending in _LINE_END.finditer(text):
            lines.append(text[start : ending.start()])
            widths.append(ending.end() - ending.start())
            start = ending.end()
        self._rest = [text[start:]]
        # A CR at a read's end may be half of a CRLF.
        self._skip_lf = text.endswith(b"\r")
        return self._take(lines, widths)

    def _take(self, lines: list[bytes], widths: Iterable[int]) -> list[SseEvent]:
        events = []
        for line, width in zip(lines, widths, strict=True):
            at = self._line_start
            self._line_start = at + len(line) + width
            if not line:
                if self._data:
                    events.append(self._event(closed=True))
                self._kind = b""
            elif line[:5] == b"data:":
                self._data.append(line[6:] if line[5:6] == b" " else line[5:])
                self._end = at + len(line)
            else:
                self._take_other(line, at)
        return events

    def _take_other(self, line: bytes, at: int) -> None:
        end = at + len(line)
        field, _, value = (line.removeprefix(_BOM) if at == 0 else line).partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._kind = value
            return
        elif field == b"error":
            self._kind = field
            self._data.append(value)
        else:
            return
        self._end = end

    def _event(self, closed: bool) -> SseEvent:
        event = SseEvent(b"\n".join(self._data), self._end, self._kind, closed)
        self._data = []
        self._kind = b""
        return event


class Sentinel:
    """Whether `[DONE]` has come as an event of its own. Until its bytes come, a read costs two searches.

    What came before the last blank line at a read's end needs no parsing then: the stream's end, when many
    streams end together, is no time to read everything again.
    """

    def __init__(self) -> None:
        self._parser = SseParser()
        self._unread: list[bytes] = []
        self._tail = b""
        self._mentioned = False

    def seen_after(self, chunk: bytes) -> bool:
        """Whether this read completed the event; a text that only mentions it is told apart by parsing."""
        if not self._mentioned:
            around = self._tail + chunk
            self._tail = around[1 - len(DONE) :]
            self._mentioned = DONE in around
        self._unread.append(chunk)
        if not self._mentioned:
            if chunk.endswith(_BLANK_LINES):
                self._unread = []
            return False
        events = self._parser.feed(b"".join(self._unread))
        self._unread = []
        return any(event.data == DONE for event in events)


def parse_sse(stream: bytes) -> list[SseEvent]:
    """All events of a whole stream."""
    parser = SseParser()
    return parser.feed(stream) + parser.flush()
