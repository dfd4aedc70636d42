"""Reading an exchange into a response: streams and whole bodies, chat and plain completions, any bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pydantic_core import from_json

from armgate.model.assembly import Assembly
from armgate.model.base import Json
from armgate.model.exchange import Exchange, Frame
from armgate.model.plausibility import TextSize, usage_of
from armgate.model.response import Channel, Response, ServerError, Timings, Usage
from armgate.model.sse import DONE, SseEvent, parse_sse

_BOM = b"\xef\xbb\xbf"
_STREAM_STARTS = (b"data:", b"event:", b"id:", b"retry:", b"error:", b":")
_JSON_STARTS = (b"{", b"[", b'"')


def read_response(exchange: Exchange) -> Response:
    """What the exchange's recorded bytes say. Never raises, whatever the bytes are.

    Wire facts: OpenAI's chat completions and completions as served by vLLM, SGLang, llama.cpp and
    Ollama; event streams per WHATWG. Bytes that are not UTF-8 become U+DC80..U+DCFF and are flagged.
    """
    body = exchange.body
    assembly = Assembly()
    if _is_stream(exchange, body):
        done = _read_stream(exchange, body, assembly)
        return _finished(exchange, assembly, streamed=True, done=done)
    _read_whole(exchange, body, assembly)
    return _finished(exchange, assembly, streamed=False, done=False)


def _is_stream(exchange: Exchange, body: bytes) -> bool:
    """By the body's first bytes; a proxy's content type or the request's `stream` may not hold."""
    start = body.removeprefix(_BOM).lstrip(b" \t\r\n")
    if not start:
        return exchange.status == 200 and exchange.request.get("stream") is True
    if start.startswith(_JSON_STARTS):
        return False
    return start.startswith(_STREAM_STARTS) or b"\ndata:" in start


def _read_stream(exchange: Exchange, body: bytes, assembly: Assembly) -> bool:
    """Feeds every event up to `[DONE]` to the assembly; whether that sentinel came."""
    done = False
    for event, at_s in _with_arrivals(parse_sse(body), exchange):
        if done:
            assembly.flags.add("data_after_done")
            break
        for data in _pieces(event, assembly):
            if data == DONE:
                done = True
            elif data:
                _read_event(data, event, at_s, assembly)
    if not done:
        assembly.flags.add("no_done_sentinel")
    return done


def _with_arrivals(events: list[SseEvent], exchange: Exchange) -> Iterator[tuple[SseEvent, float | None]]:
    """Each event with the arrival of the read that brought its last data byte."""
    if not exchange.timed:
        yield from ((event, None) for event in events)
        return
    frames = iter(exchange.frames)
    frame, reached = Frame(0.0, b""), 0
    for event in events:
        while reached < event.end:
            frame = next(frames)
            reached += len(frame.data)
        yield event, frame.at_s


def _pieces(event: SseEvent, assembly: Assembly) -> list[bytes]:
    """An event's data; its lines apart where a server forgot the blank lines between events."""
    data = event.data
    if b"\n" not in data or _parsed(data) is not None:
        return [data.strip() if len(data) < 16 else data]
    lines = data.split(b"\n")
    if all(line in (b"", DONE) or isinstance(_parsed(line), dict) for line in lines):
        assembly.flags.add("events_without_blank_line")
        return lines
    return [data]


def _read_event(data: bytes, event: SseEvent, at_s: float | None, assembly: Assembly) -> None:
    obj = _parsed(data, assembly)
    if isinstance(obj, dict):
        if event.kind or b"error" in data or "choices" not in obj:
            _note_error(obj, assembly, expected=event.kind == b"error")
        assembly.take(obj, at_s)
    elif isinstance(obj, str) or (obj is None and _is_prose(data)):
        # An error in the middle of a stream may come as plain text.
        assembly.errors.append(ServerError(message=obj if isinstance(obj, str) else data.decode()))
    elif obj is None and not event.closed:
        assembly.flags.add("torn_event")
    else:
        assembly.unreadable.append(f"event: {_text(data[:200], assembly)}")


def _read_whole(exchange: Exchange, body: bytes, assembly: Assembly) -> None:
    if not body:
        return
    failed = exchange.status is not None and exchange.status >= 400
    obj = _parsed(body.removeprefix(_BOM), assembly)
    if isinstance(obj, dict):
        _note_error(obj, assembly, expected=failed)
        assembly.take(obj, None)
    elif failed or (exchange.request.get("stream") is True and obj is None and _is_prose(body)):
        assembly.errors.append(ServerError(message=_text(body[:4000], assembly)))
    else:
        assembly.unreadable.append(f"body: {_text(body[:200], assembly)}")


def _note_error(obj: dict[str, Json], assembly: Assembly, expected: bool) -> None:
    error = _error_in(obj, expected)
    if error is not None:
        assembly.errors.append(error)


def _error_in(obj: dict[str, Json], expected: bool) -> ServerError | None:
    """The error that an object carries: OpenAI's `error`, vLLM's older flat form, FastAPI's `detail`."""
    if obj.get("error"):
        return _server_error(obj["error"])
    choices = obj.get("choices")
    if choices:
        first = choices[0] if isinstance(choices, list) else None
        inner = first.get("error") if isinstance(first, dict) else None
        return _server_error(inner) if inner else None
    if isinstance(obj.get("message"), str) and (expected or obj.get("object") == "error"):
        return _server_error(obj)
    if "detail" in obj and "object" not in obj:
        return _server_error(obj["detail"])
    return _server_error(obj) if expected else None


def _server_error(error: Json) -> ServerError:
    if not isinstance(error, dict):
        return ServerError(message=error if isinstance(error, str) else json.dumps(error))
    known = ("message", "code", "type", "param", "object")
    message, code, kind, param = (error.get(name) for name in known[:4])
    return ServerError(
        message=message if isinstance(message, str) else json.dumps(error),
        code=None if code is None else str(code),
        type=kind if isinstance(kind, str) else None,
        param=param if isinstance(param, str) else None,
        details={name: value for name, value in error.items() if name not in known},
    )


def _parsed(data: bytes, assembly: Assembly | None = None) -> Json:
    """A JSON value, or `None` where the bytes are none (JSON's own null is nothing to read either)."""
    try:
        value = from_json(data, allow_inf_nan=False)
    except ValueError:
        value = _parsed_slowly(data, assembly)
    if data.count(b"{") + data.count(b"[") > _DEEPEST and _deeper_than(value, _DEEPEST):
        return None
    return value


def _parsed_slowly(data: bytes, assembly: Assembly | None) -> Json:
    """The standard parser reads what the fast one refuses: lone surrogates, bytes that are not UTF-8."""
    text = data.decode(errors="surrogateescape")
    try:
        value = _STRICT_JSON.decode(text)
    except (ValueError, RecursionError):
        return None
    if assembly is not None and not _is_utf8(data):
        assembly.flags.add("invalid_utf8")
    return value


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is not JSON")


_STRICT_JSON = json.JSONDecoder(parse_constant=_no_constant)
_DEEPEST = 64
"""Levels of nesting that are read; no server needs more, and what reads a response may recurse."""


def _deeper_than(value: Json, levels: int) -> bool:
    layer = [value]
    for _ in range(levels):
        layer = [child for node in layer for child in _children(node)]
        if not layer:
            return False
    return True


def _children(node: Json) -> list[Json]:
    if isinstance(node, dict):
        return list(node.values())
    return node if isinstance(node, list) else []


def _is_prose(data: bytes) -> bool:
    """Whether bytes that are no JSON may be an error's message: text, and no broken piece of the protocol."""
    return _is_utf8(data) and not data.strip().startswith((b"{", b"[", b"<")) and b"\x00" not in data


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _text(data: bytes, assembly: Assembly) -> str:
    if not _is_utf8(data):
        assembly.flags.add("invalid_utf8")
    return data.decode(errors="surrogateescape")


def _finished(exchange: Exchange, assembly: Assembly, streamed: bool, done: bool) -> Response:
    content, reasoning = _joined(assembly.content), _joined(assembly.reasoning)
    calls = tuple(call.joined() for call in assembly.calls)
    usage = _usage(exchange, assembly, content, reasoning)
    flags = assembly.flags | set(usage.doubts if usage else ("usage_missing",))
    if exchange.left_open:
        flags.add("left_open_after_done")
    return Response(
        content=content,
        reasoning=reasoning,
        reasoning_fields=tuple(assembly.reasoning_fields),
        tool_calls=calls,
        finish_reason=assembly.finish_reason,
        stop_reason=assembly.stop_reason,
        usage=usage,
        model=assembly.model,
        system_fingerprint=assembly.system_fingerprint,
        token_ids=None if assembly.token_ids is None else tuple(assembly.token_ids),
        prompt_token_ids=None if assembly.prompt_token_ids is None else tuple(assembly.prompt_token_ids),
        logprobs=None if assembly.logprobs is None else tuple(assembly.logprobs),
        errors=tuple(assembly.errors),
        streamed=streamed,
        done_seen=done,
        deltas=tuple(assembly.deltas),
        timings=_timings(exchange, assembly),
        flags=tuple(sorted(flags)),
        unreadable=tuple(assembly.unreadable),
        raw=assembly.raw,
    )


def _usage(
    exchange: Exchange, assembly: Assembly, content: str | None, reasoning: str | None
) -> Usage | None:
    if assembly.usage is None:
        return None
    called = "".join(text for call in assembly.calls for text in (call.name or "", *(call.arguments or ())))
    said, thought, calls = (
        len(text.encode(errors="surrogatepass")) for text in (content or "", reasoning or "", called)
    )
    size = TextSize(said + thought + calls, thought, len(assembly.calls))
    return usage_of(assembly.usage, assembly.usage_reports, size, exchange.cap_tokens)


def _timings(exchange: Exchange, assembly: Assembly) -> Timings:
    if not exchange.timed or not exchange.frames:
        return Timings()
    deltas, body_s = assembly.deltas, exchange.frames[-1].at_s
    told = [at_s for at_s in (deltas[-1].at_s if deltas else None, assembly.finish_s) if at_s is not None]
    return Timings(
        ttft_s=deltas[0].at_s if deltas else None,
        ttft_channel=deltas[0].channel if deltas else None,
        first_content_s=next((d.at_s for d in deltas if d.channel is Channel.CONTENT), None),
        last_text_s=deltas[-1].at_s if deltas else None,
        finish_s=assembly.finish_s,
        wall_s=max(told, default=body_s),
        body_s=body_s,
    )


def _joined(texts: list[str] | None) -> str | None:
    return None if texts is None else "".join(texts)
