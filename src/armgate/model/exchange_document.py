"""The exchange document that a person writes by hand: strict, every problem at once, with its line."""

from __future__ import annotations

import base64
import binascii
import difflib
import json
import math
from pathlib import Path

from armgate.errors import DeclarationError, Problem
from armgate.model.base import Json
from armgate.model.exchange import CHAT, COMPLETIONS, Exchange, Fate, Frame
from armgate.model.json_places import Place, line_and_column

_TOP = ("request", "response", "fate", "endpoint", "error")
_RESPONSE = ("status", "headers", "body", "frames")
_FATES = tuple(fate.value for fate in Fate)


def parse_document(data: bytes, file: Path | None) -> Exchange:
    """One JSON document: `request`, `response` (or null), `fate`; `endpoint` and `error` if wanted.

    `response` has `status`, `headers` and either `body` (text), `frames` ([[seconds, text], ...] with
    `{"b64": ...}` for bytes that are not UTF-8) or null. Raises DeclarationError.
    """
    text = _decoded(data, file)
    try:
        value = json.loads(text, object_pairs_hook=_no_double_keys, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        hint = "the file ends too early" if error.pos >= len(text.rstrip()) else None
        problem = Problem(file, error.lineno, error.colno, "", f"not JSON: {error.msg}", hint)
        raise DeclarationError([problem]) from error
    except (ValueError, RecursionError) as error:
        raise DeclarationError([Problem(file, None, None, "", f"not JSON: {error}")]) from error
    return _Document(value, text, file).exchange()


class _Document:
    """A parsed document under inspection; `problems` collects everything that is wrong with it."""

    def __init__(self, value: Json, text: str, file: Path | None) -> None:
        self.value = value
        self.text = text
        self.file = file
        self.problems: list[Problem] = []

    def exchange(self) -> Exchange:
        top = self._object(self.value, (), _TOP, needed=("request", "response", "fate"))
        request = self._object(top.get("request", {}), ("request",))
        answer = top.get("response")
        fields = {} if answer is None else self._object(answer, ("response",), _RESPONSE, needed=("status",))
        status = self._status(fields.get("status"))
        headers = self._headers(fields.get("headers", {}))
        frames, timed = self._body(fields)
        fate = self._fate(top.get("fate"))
        endpoint = self._text(top.get("endpoint"), "endpoint") or _endpoint_of(request)
        error = self._text(top.get("error"), "error")
        if self.problems:
            raise DeclarationError(self.problems)
        return Exchange(
            request=request, status=status, headers=headers, frames=frames, fate=fate, timed=timed,
            error=error, endpoint=endpoint,
        )  # fmt: skip

    def _wrong(self, place: Place, message: str, hint: str | None = None) -> None:
        line, column = line_and_column(self.text, place)
        where = ".".join(str(step) for step in place)
        self.problems.append(Problem(self.file, line, column, where, message, hint))

    def _object(
        self, value: Json, place: Place, allowed: tuple[str, ...] = (), needed: tuple[str, ...] = ()
    ) -> dict[str, Json]:
        if not isinstance(value, dict):
            self._wrong(place, f"expected an object, found {_kind(value)}")
            return {}
        for name in value.keys() - allowed if allowed else ():
            near = difflib.get_close_matches(name, allowed, 1)
            hint = f"did you mean {near[0]}?" if near else None
            self._wrong((*place, name), f"unknown key; allowed are {', '.join(allowed)}", hint)
        for name in needed:
            if name not in value:
                self._wrong(place, f"the key {name} is missing; needed are {', '.join(needed)}")
        return value

    def _status(self, value: Json) -> int | None:
        if value is None or (type(value) is int and 100 <= value <= 599):
            return value
        self._wrong(("response", "status"), f"expected an HTTP status (100 to 599), found {_shown(value)}")
        return None

    def _headers(self, value: Json) -> dict[str, str]:
        place = ("response", "headers")
        headers = self._object(value, place)
        for name, text in headers.items():
            if not isinstance(text, str):
                self._wrong((*place, name), f"expected text, found {_kind(text)}")
        return {name.lower(): text for name, text in headers.items() if isinstance(text, str)}

    def _fate(self, value: Json) -> Fate:
        if value in _FATES:
            return Fate(value)
        if value is not None:
            near = difflib.get_close_matches(str(value), _FATES, 1)
            hint = f"did you mean {near[0]}?" if near else None
            allowed = ", ".join(_FATES)
            self._wrong(("fate",), f"expected one of {allowed}, found {_shown(value)}", hint)
        elif isinstance(self.value, dict) and "fate" in self.value:
            self._wrong(("fate",), f"expected one of {', '.join(_FATES)}, found null")
        return Fate.CUT

    def _text(self, value: Json, name: str) -> str | None:
        if value is None or isinstance(value, str):
            return value
        self._wrong((name,), f"expected text, found {_kind(value)}")
        return None

    def _body(self, fields: dict[str, Json]) -> tuple[tuple[Frame, ...], bool]:
        """The body as frames, and whether they have times of their own."""
        body, frames = fields.get("body"), fields.get("frames")
        if body is not None and frames is not None:
            self._wrong(("response", "frames"), "expected either body or frames, found both")
        if frames is not None:
            return self._frames(frames), True
        if body is None:
            return (), False
        if isinstance(body, dict | list) and not (isinstance(body, dict) and "b64" in body):
            hint = "write the body's JSON as one string, byte for byte as it came"
            self._wrong(("response", "body"), f"expected text, found {_kind(body)}", hint)
            return (), False
        return (Frame(0.0, self._bytes(body, ("response", "body"))),), False

    def _frames(self, value: Json) -> tuple[Frame, ...]:
        place: Place = ("response", "frames")
        if not isinstance(value, list):
            self._wrong(place, f"expected a list of [seconds, text], found {_kind(value)}")
            return ()
        frames: list[Frame] = []
        for number, item in enumerate(value):
            here = (*place, number)
            if not isinstance(item, list) or len(item) != 2:
                self._wrong(here, f"expected [seconds, text], found {_shown(item)}")
                continue
            at_s = self._seconds(item[0], (*here, 0), frames[-1].at_s if frames else 0.0)
            frames.append(Frame(at_s, self._bytes(item[1], (*here, 1))))
        return tuple(frames)

    def _seconds(self, value: Json, place: Place, earliest_s: float) -> float:
        if type(value) not in {int, float} or not math.isfinite(value):
            self._wrong(place, f"expected seconds, found {_shown(value)}")
        elif value < earliest_s:
            before = (
                "0, the hand-over of the request" if earliest_s == 0 else f"the read before, {earliest_s}"
            )
            self._wrong(place, f"expected seconds from {before}, found {value}")
        else:
            return float(value)
        return earliest_s

    def _bytes(self, value: Json, place: Place) -> bytes:
        hint = 'bytes that are not UTF-8 are written as {"b64": "..."}'
        try:
            if isinstance(value, str):
                return value.encode()
            if isinstance(value, dict) and value.keys() == {"b64"} and isinstance(value["b64"], str):
                return base64.b64decode(value["b64"], validate=True)
        except UnicodeEncodeError:
            self._wrong(place, "half of a surrogate pair is no text", hint)
            return b""
        except (binascii.Error, ValueError) as error:
            self._wrong(place, f"not base64: {error}")
            return b""
        self._wrong(place, f"expected text, found {_shown(value)}", hint)
        return b""


def _endpoint_of(request: dict[str, Json]) -> str:
    return COMPLETIONS if "prompt" in request and "messages" not in request else CHAT


def _decoded(data: bytes, file: Path | None) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DeclarationError([Problem(file, line, None, "", f"not UTF-8: {error.reason}")]) from error


def _no_double_keys(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys):
        double = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {double!r} is there twice")
    return dict(pairs)


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is no JSON number")


def _kind(value: Json) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _shown(value: Json) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
