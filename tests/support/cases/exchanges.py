"""Exchanges out of the shapes in which the incidents are written down."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from armgate.model.exchange import CHAT, Exchange, Fate, Frame


def of_body(request: Mapping[str, Any] | None, status: int, body: Any) -> Exchange:
    """A whole body, as JSON or as text."""
    data = body if isinstance(body, str) else json.dumps(body)
    request = dict(request or {})
    endpoint = request.pop("endpoint", CHAT)
    return Exchange(
        request=request,
        status=status,
        headers={},
        frames=(Frame(0.0, data.encode()),),
        fate=Fate.COMPLETE,
        timed=False,
        endpoint=endpoint,
    )


def of_message(fields: Mapping[str, Any], request: Mapping[str, Any] | None = None) -> Exchange:
    """One message of a chat completion. Fields that are not given are not sent, but for the finish reason."""
    message = {"role": "assistant"}
    message |= {name: fields[name] for name in ("content", "reasoning", "tool_calls") if name in fields}
    choice = {"index": 0, "message": message, "finish_reason": fields.get("finish_reason", "stop")}
    body: dict[str, Any] = {"object": "chat.completion", "choices": [choice]}
    if "usage" in fields:
        body["usage"] = fields["usage"]
    return of_body(request, 200, body)


def of_stream(text: str, request: Mapping[str, Any] | None = None) -> Exchange:
    """An event stream that came in one read and then ended."""
    frames = (Frame(0.0, text.encode()),)
    return _stream(frames, request, Fate.COMPLETE, timed=False)


def of_reads(chunks: list[str], tail: str) -> Exchange:
    """An event stream in the reads that it came in, given as base64, and a last read as text."""
    reads = [base64.b64decode(chunk) for chunk in chunks] + ([tail.encode()] if tail else [])
    frames = tuple(Frame(0.01 * number, data) for number, data in enumerate(reads, start=1))
    return _stream(frames, None, Fate.COMPLETE, timed=True)


def of_events(events: list[Mapping[str, Any]], then: str | None) -> Exchange:
    """Timed events. What came `then` is in words: a socket left open ends with a deadline of ours."""
    frames = tuple(Frame(event["t_ms"] / 1000, f"data: {event['data']}\n\n".encode()) for event in events)
    fate = Fate.TIMEOUT if then and "stays open" in then else Fate.COMPLETE
    return _stream(frames, None, fate, timed=True)


def _stream(
    frames: tuple[Frame, ...], request: Mapping[str, Any] | None, fate: Fate, *, timed: bool
) -> Exchange:
    return Exchange(
        request={"stream": True, **(request or {})},
        status=200,
        headers={"content-type": "text/event-stream"},
        frames=frames,
        fate=fate,
        timed=timed,
    )
