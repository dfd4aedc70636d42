"""Exchange files: the JSON document that a person writes, and the recorder's JSON Lines, read and rendered.

Both are parsed from bytes into an `Exchange`. A recording cut anywhere is an exchange with the fate
`cut`; a document that does not hold is a DeclarationError with line, field and what is allowed.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from armgate.errors import DeclarationError, Problem
from armgate.model.base import Json
from armgate.model.exchange import CHAT, Clock, Exchange, Fate, Frame, Mask
from armgate.model.exchange_document import parse_document

FORMAT = "armgate/exchange/v1"
"""First value of a recording's first line."""

_MARK = b'{"format":"' + FORMAT.encode()
_GZIP = b"\x1f\x8b"
_NO_TRAILER = "the recording ends without its trailer"
_HEAD_KEYS = frozenset(("format", "endpoint", "utc", "request"))
_ANSWER_KEYS = frozenset(("status", "headers", "headers_s"))
_TRAILER_KEYS = frozenset(("fate", "clock", "masks", "error", "left_open"))
_LINE_KEYS = _HEAD_KEYS | _ANSWER_KEYS | _TRAILER_KEYS


def parse_exchange(data: bytes, file: Path | None = None) -> Exchange:
    """An exchange file's bytes, of either form, the recorder's also gzipped.

    The form is told by the first bytes; a file named `.jsonl` is a recording however little of it is
    left. Raises DeclarationError.
    """
    whole = True
    if data.startswith(_GZIP):
        data, whole = _unzipped(data, file)
    named = file is not None and file.name.removesuffix(".gz").endswith(".jsonl")
    if not whole:
        exchange = _parse_recording(data, file)
        return exchange.model_copy(update={"fate": Fate.CUT, "error": "the gzip file ends too early"})
    if named or data.startswith(_MARK):
        return _parse_recording(data, file)
    return parse_document(data, file)


def render_head(request: Mapping[str, Json], endpoint: str, sent_at_utc: str) -> bytes:
    """First line of a recording, written before the request is handed to the socket."""
    return _line({"format": FORMAT, "endpoint": endpoint, "utc": sent_at_utc, "request": dict(request)})


def render_answer(status: int, headers: Mapping[str, str], headers_s: float) -> bytes:
    """The line of a response's head."""
    return _line({"status": status, "headers": dict(headers), "headers_s": round(headers_s, 7)})


def render_read(at_s: float, data: bytes) -> bytes:
    """The line of one read: its text where the bytes are UTF-8, else base64."""
    try:
        text = json.dumps(data.decode(), ensure_ascii=False)
    except UnicodeDecodeError:
        text = json.dumps({"b64": base64.b64encode(data).decode()})
    return f"[{at_s:.7f},{text}]\n".encode()


def render_trailer(
    fate: Fate, clock: Clock, masks: tuple[Mask, ...], error: str | None, left_open: bool = False
) -> bytes:
    """The last line: a recording without it was interrupted."""
    return _line(
        {
            "fate": fate.value,
            "clock": clock.model_dump(),
            "masks": [mask.model_dump() for mask in masks],
            "error": error,
            "left_open": left_open,
        }
    )


def _line(value: dict[str, Json]) -> bytes:
    # Escapes keep lone surrogates of a request writable.
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _unzipped(data: bytes, file: Path | None) -> tuple[bytes, bool]:
    """The content of a gzip file and whether all of it was there."""
    unzip = zlib.decompressobj(wbits=31)
    try:
        text = unzip.decompress(data) + unzip.flush()
    except zlib.error as error:
        raise DeclarationError([Problem(file, None, None, "", f"damaged gzip file: {error}")]) from error
    return text, unzip.eof


def _parse_recording(data: bytes, file: Path | None) -> Exchange:
    *lines, tail = data.split(b"\n")
    values = [_recorded(line, number, file) for number, line in enumerate(lines, start=1)]
    if tail:
        # A last line without its end is torn, unless only the end is missing.
        torn = _value_or_none(tail)
        values += [] if torn is None else [torn]
    parts: dict[str, Any] = {}
    frames = []
    for number, value in enumerate(values, start=1):
        if isinstance(value, list):
            frames.append(_frame(value, number, file))
        elif value.keys() <= _LINE_KEYS and not value.keys() & parts:
            parts |= value
        else:
            raise _damaged(file, number, "keys that no recording has, or has once only")
    return _exchange(parts, tuple(frames), file)


def _exchange(parts: Mapping[str, Any], frames: tuple[Frame, ...], file: Path | None) -> Exchange:
    ended = "fate" in parts
    clock = parts.get("clock", {"headers_s": parts.get("headers_s")})
    try:
        return Exchange(
            request=parts.get("request", {}),
            status=parts.get("status"),
            headers=parts.get("headers", {}),
            frames=frames,
            fate=Fate(parts["fate"]) if ended else Fate.CUT,
            clock=Clock.model_validate(clock, strict=False),
            error=parts.get("error") if ended else _NO_TRAILER,
            masks=tuple(Mask.model_validate(mask) for mask in parts.get("masks", ())),
            endpoint=parts.get("endpoint", CHAT),
            left_open=parts.get("left_open", False),
        )
    except (ValueError, TypeError) as error:
        raise DeclarationError([Problem(file, None, None, "", f"not a recording: {error}")]) from error


def _recorded(line: bytes, number: int, file: Path | None) -> Json:
    value = _value_or_none(line)
    if value is None:
        raise _damaged(file, number, "a recording's line is a JSON object or [seconds, text]")
    return value


def _damaged(file: Path | None, number: int, message: str) -> DeclarationError:
    return DeclarationError([Problem(file, number, None, "", f"damaged: {message}")])


def _value_or_none(line: bytes) -> Json:
    try:
        value = json.loads(line.decode())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _frame(value: list[Json], number: int, file: Path | None) -> Frame:
    match value:
        case [int() | float() as at_s, str() as text]:
            return Frame(float(at_s), text.encode(errors="surrogatepass"))
        case [int() | float() as at_s, {"b64": str() as text}]:
            try:
                return Frame(float(at_s), base64.b64decode(text, validate=True))
            except binascii.Error:
                pass
    raise _damaged(file, number, "a read is [seconds, text or {b64: text}]")
