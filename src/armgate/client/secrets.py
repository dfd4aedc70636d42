"""Known secrets, in every form they may come back in, replaced by masks of the same length."""

from __future__ import annotations

import base64
import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote, quote_plus

from armgate.model.exchange import Frame, Mask

MASK = b"*"
SHORTEST = 6
"""Characters. Shorter values would mask ordinary words out of the evidence, and protect nothing."""

_SHORTEST_PART = 8
_PLACEHOLDERS = frozenset(("EMPTY", "dummy", "no-key", "not-needed", "sk-no-key-required", "token-abc123"))
"""What people and examples put where a client insists on a key and the server on none."""


class Secrets:
    """Secrets by kind (`api_key`: its value), with every form in which their bytes may come back.

    Forms: as it is, URL-quoted, escaped as in JSON, and base64 of a text that contains it, at any of
    the three alignments. Values under `SHORTEST` characters and well-known placeholders are left out.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        self.needles: dict[bytes, str] = {}
        for kind, value in values.items():
            if len(value) >= SHORTEST and value not in _PLACEHOLDERS:
                self.needles |= dict.fromkeys(_forms(value), kind)
        self.longest = max(map(len, self.needles), default=0)
        self._bytes = frozenset(b"".join(self.needles))

    def __bool__(self) -> bool:
        return bool(self.needles)

    def masked(self, data: bytes) -> bytes:
        """A whole text with every occurrence masked."""
        return _masked(data, 0, self.found_in(data, 0))

    def masked_text(self, text: str) -> str:
        return self.masked(text.encode(errors="surrogatepass")).decode(errors="surrogatepass")

    def found_in(self, data: bytes | bytearray, old: int) -> list[tuple[int, int, str]]:
        """(start, end, kind) of each occurrence that does not lie whole in the first `old` bytes."""
        spans = []
        for needle, kind in self.needles.items():
            at = data.find(needle, max(0, old - len(needle) + 1))
            while at >= 0:
                spans.append((at, at + len(needle), kind))
                at = data.find(needle, at + 1)
        return spans

    def open_tail(self, data: bytes | bytearray) -> int:
        """Where the end of `data` may be the beginning of a secret; its length where it cannot."""
        if not data or data[-1] not in self._bytes:
            return len(data)
        for start in range(max(0, len(data) - self.longest + 1), len(data)):
            tail = bytes(data[start:])
            if any(len(needle) > len(tail) and needle.startswith(tail) for needle in self.needles):
                return start
        return len(data)


NO_SECRETS = Secrets({})


class Masker:
    """Masks a body that comes in reads. Each read keeps its arrival and its length.

    A read is held back only while its end may be the beginning of a secret that the next completes.
    """

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._held = bytearray()
        self._base = 0
        """Offset in the body of the first held byte."""
        self._reads: deque[tuple[float, int]] = deque()
        self._spans: list[tuple[int, int, str]] = []

    def feed(self, at_s: float, data: bytes) -> list[Frame]:
        """Reads that can be kept now, masked."""
        if not self._secrets:
            return [Frame(at_s, data)]
        old = len(self._held)
        self._held += data
        self._reads.append((at_s, len(data)))
        found = self._secrets.found_in(self._held, old)
        self._spans += [(start + self._base, end + self._base, kind) for start, end, kind in found]
        return list(self._release(self._secrets.open_tail(self._held)))

    def finish(self) -> list[Frame]:
        """What is still held: no more bytes come, so its end begins no secret."""
        return list(self._release(len(self._held)))

    @property
    def masks(self) -> tuple[Mask, ...]:
        """What was masked, in the body's order; overlapping finds are one mask."""
        joined: list[tuple[int, int, str]] = []
        for start, end, kind in sorted(self._spans):
            if joined and start < joined[-1][1]:
                first, last, known = joined[-1]
                joined[-1] = (first, max(last, end), known)
            else:
                joined.append((start, end, kind))
        return tuple(Mask(offset=start, length=end - start, kind=kind) for start, end, kind in joined)

    def _release(self, until: int) -> Iterator[Frame]:
        while self._reads and self._reads[0][1] <= until:
            at_s, length = self._reads.popleft()
            data = _masked(bytes(self._held[:length]), self._base, self._spans)
            del self._held[:length]
            self._base += length
            until -= length
            yield Frame(at_s, data)


def _masked(data: bytes, base: int, spans: Iterable[tuple[int, int, str]]) -> bytes:
    """`data`, which begins at `base` of the body, with what lies in the spans replaced."""
    out = bytearray(data)
    for start, end, _ in spans:
        first, last = max(0, start - base), min(len(out), end - base)
        if first < last:
            out[first:last] = MASK * (last - first)
    return bytes(out)


def _forms(value: str) -> set[bytes]:
    in_json = {json.dumps(value, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}
    texts = {value, quote(value, safe=""), quote(value), quote_plus(value), *in_json}
    texts |= {text.replace("/", "\\/") for text in in_json}
    forms = {text.encode() for text in texts}
    forms |= {_lower_hex(form) for form in forms}
    return forms | {part for shift in range(3) for part in _base64_parts(value.encode(), shift)}


def _lower_hex(form: bytes) -> bytes:
    """Percent escapes with small letters, which URLs may have as well."""
    pieces = form.split(b"%")
    return b"%".join([pieces[0], *(piece[:2].lower() + piece[2:] for piece in pieces[1:])])


def _base64_parts(value: bytes, shift: int) -> set[bytes]:
    """What base64 of any text holds if `value` begins in it at `shift` modulo 3: only whole characters."""
    encoded = base64.b64encode(bytes(shift) + value)
    part = encoded[(0, 2, 3)[shift] : (shift + len(value)) * 8 // 6]
    return {part, part.translate(bytes.maketrans(b"+/", b"-_"))} if len(part) >= _SHORTEST_PART else set()
