"""A raw socket server on loopback that misbehaves in named ways: `POST /<fault>/v1/chat/completions`."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

Fault = Callable[["Line"], Awaitable[None]]

ROLE = {"role": "assistant", "content": ""}
ECHO = "sk-FAKE-abc123/def"
"""A secret that the fault `echo` sends back in pieces."""


class Line:
    """One connection: `raw` writes bytes as they are, `events` writes a chunked event stream."""

    def __init__(self, writer: asyncio.StreamWriter, request: bytes) -> None:
        self.writer, self.request = writer, request

    async def raw(self, data: bytes, pause_s: float = 0.0) -> None:
        self.writer.write(data)
        await self.writer.drain()
        if pause_s:
            await asyncio.sleep(pause_s)

    async def head(self, status: str = "200 OK", kind: str = "text/event-stream", *more: str) -> None:
        lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", *more, "Connection: close", "", ""]
        await self.raw("\r\n".join(lines).encode())

    async def stream_head(self) -> None:
        await self.head("200 OK", "text/event-stream", "Transfer-Encoding: chunked")

    async def chunk(self, data: bytes, pause_s: float = 0.0) -> None:
        await self.raw(f"{len(data):x}\r\n".encode() + data + b"\r\n", pause_s)

    async def end(self) -> None:
        await self.raw(b"0\r\n\r\n")

    async def whole(self, status: str, body: bytes, kind: str = "application/json", *more: str) -> None:
        await self.head(status, kind, f"Content-Length: {len(body)}", *more)
        await self.raw(body)

    def reset(self) -> None:
        self.writer.transport.abort()


def event(delta: dict[str, object] | None, finish: str | None = None, **more: object) -> bytes:
    """One chunk of a chat completion as an event."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    obj = {"id": "chatcmpl-f", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return b"data: " + json.dumps({**obj, "choices": choices, **more}).encode() + b"\n\n"


USAGE = event(None, usage={"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10})
GOOD = event(ROLE) + event({"content": "703"}) + event({}, "stop") + USAGE + b"data: [DONE]\n\n"


async def good(line: Line) -> None:
    await line.stream_head()
    await line.chunk(GOOD)
    await line.end()


async def split_reads(line: Line) -> None:
    """Every event in two reads, cut in the middle of a character."""
    await line.stream_head()
    text = event(ROLE) + event({"content": "정답 703"}).replace(b"\\uc815", "정".encode()) + event({}, "stop")
    cut = text.index("정".encode()) + 1
    await line.chunk(text[:cut], 0.05)
    await line.chunk(text[cut:] + b"data: [DONE]\n\n")
    await line.end()


async def dropped(line: Line) -> None:
    await line.stream_head()
    await line.chunk(event(ROLE) + event({"content": "70"}), 0.05)
    line.reset()


async def silent_end(line: Line) -> None:
    """A clean end of the body without finish reason, usage or sentinel."""
    await line.stream_head()
    await line.chunk(event(ROLE) + event({"content": "703"}))
    await line.end()


async def error_in_stream(line: Line) -> None:
    await line.stream_head()
    error = {"error": {"message": "EngineCore encountered an issue", "type": "E", "code": 500}}
    await line.chunk(event(ROLE) + b"data: " + json.dumps(error).encode() + b"\n\ndata: [DONE]\n\n")
    await line.end()


async def never_closes(line: Line) -> None:
    await line.stream_head()
    await line.chunk(GOOD, 30.0)


async def error_then_silence(line: Line) -> None:
    await line.stream_head()
    await line.chunk(b"data: Number of choices must be greater than 0.\n\n", 30.0)


async def silence(line: Line) -> None:
    await asyncio.sleep(30.0)


async def silence_in_stream(line: Line) -> None:
    await line.stream_head()
    await line.chunk(event(ROLE) + event({"content": "70"}), 30.0)


async def keep_alive_forever(line: Line) -> None:
    await line.stream_head()
    for _ in range(1000):
        await line.chunk(b": ping\n\n", 0.03)


async def huge(line: Line) -> None:
    await line.stream_head()
    piece = event({"content": "x" * 60_000})
    for _ in range(1000):
        await line.chunk(piece)


async def http_500(line: Line) -> None:
    error = {"error": {"message": "internal", "type": "InternalServerError", "code": 500}}
    await line.whole("500 Internal Server Error", json.dumps(error).encode())


async def refused_parameter(line: Line) -> None:
    message = "The min_p sampling parameter is not yet supported with speculative decoding."
    error = {"error": {"message": message, "type": "BadRequestError", "param": "min_p", "code": 400}}
    await line.whole("400 Bad Request", json.dumps(error).encode())


async def garbage(line: Line) -> None:
    await line.raw(b"\x00\xff SSH-2.0 this is no HTTP\r\n\r\n")


async def garbage_body(line: Line) -> None:
    await line.stream_head()
    await line.chunk(b"\x00\xff\xfe{]\n" * 50)
    await line.end()


async def redirect(line: Line) -> None:
    await line.whole("307 Temporary Redirect", b"", "text/plain", "Location: /good/v1/chat/completions")


async def gzip_anyway(line: Line) -> None:
    body = gzip.compress(b'{"choices":[],"key":"' + ECHO.encode() + b'"}')
    await line.whole("200 OK", body, "application/json", "Content-Encoding: gzip")


async def echo(line: Line) -> None:
    """The secret comes back whole, cut over three reads, URL-quoted, and in a header."""
    await line.head("200 OK", "text/event-stream", "Transfer-Encoding: chunked", f"X-Request-Id: {ECHO}",
                    f"Set-Cookie: k={ECHO}")  # fmt: skip
    whole = event({"content": f"your key is {ECHO}"}) + f": {ECHO.replace('/', '%2F')}\n\n".encode()
    cut = event({"content": "again"}, note=ECHO)
    at = cut.index(ECHO.encode())
    await line.chunk(whole, 0.03)
    await line.chunk(cut[: at + 3], 0.03)
    await line.chunk(cut[at + 3 : at + 9], 0.03)
    await line.chunk(cut[at + 9 :] + event({}, "stop") + b"data: [DONE]\n\n")
    await line.end()


async def no_stream(line: Line) -> None:
    message = {"role": "assistant", "content": "703"}
    body = {"id": "c", "object": "chat.completion", "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}}  # fmt: skip
    await line.whole("200 OK", json.dumps(body).encode())


async def request_back(line: Line) -> None:
    """The request as it came in, as the answer's body."""
    await line.whole("200 OK", line.request, "text/plain", "Set-Cookie: sticky=1")


async def many_reads(line: Line) -> None:
    await line.stream_head()
    for _ in range(3000):
        await line.chunk(event({"content": "word "}))
    await line.chunk(event({}, "stop") + b"data: [DONE]\n\n")
    await line.end()


FAULTS: dict[str, Fault] = {
    fault.__name__: fault
    for fault in (
        good, split_reads, dropped, silent_end, error_in_stream, never_closes, error_then_silence, silence,
        silence_in_stream, keep_alive_forever, huge, http_500, refused_parameter, garbage, garbage_body,
        redirect, gzip_anyway, echo, no_stream, request_back, many_reads,
    )
}  # fmt: skip


def content_length(head: bytes) -> int:
    lines = (line.lower().partition(b":") for line in head.split(b"\r\n"))
    return next((int(value) for name, _, value in lines if name == b"content-length"), 0)


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        request = head + await reader.readexactly(content_length(head))
        fault = head.split(b" ")[1].split(b"/")[1].decode()
        await FAULTS[fault](Line(writer, request))
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


@asynccontextmanager
async def faulty_server() -> AsyncIterator[str]:
    """The URL of the server, below which each fault has its path; connections left open are closed."""
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        with suppress(asyncio.CancelledError):  # asyncio's streams report a cancelled handler as a fault
            await _serve(reader, writer)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in tuple(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
