"""A chat completions server of known timing: it streams on an exact schedule and says when it wrote what.

A process of its own (`python timing_server.py`), so that the client under test cannot slow it down. It
prints its port. Each chunk carries `written`, the instant on CLOCK_MONOTONIC, which processes share.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


@dataclasses.dataclass(frozen=True)
class Schedule:
    """Instants count from the last byte of the request. The body's key `schedule` overrides any of these."""

    ttft_s: float = 0.2
    gap_s: float = 0.03
    deltas: int = 20
    tokens_per_delta: int = 3
    reasoning_deltas: int = 0
    role_chunk: bool = True
    usage_after_s: float = 0.0
    text: str = " one two six"


class _Stream:
    def __init__(self, writer: asyncio.StreamWriter, schedule: Schedule, received: float) -> None:
        self.writer, self.schedule, self.received = writer, schedule, received

    async def run(self) -> None:
        plan = self.schedule
        self.writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
            b"Connection: close\r\n\r\n"
        )
        if plan.role_chunk:
            self.choice({"role": "assistant", "content": ""})
        for number in range(plan.deltas):
            await self.until(plan.ttft_s + number * plan.gap_s)
            self.choice({"reasoning" if number < plan.reasoning_deltas else "content": plan.text})
        self.choice({}, finish="stop")
        if plan.usage_after_s:
            await self.until(plan.ttft_s + (plan.deltas - 1) * plan.gap_s + plan.usage_after_s)
        tokens = plan.deltas * plan.tokens_per_delta
        self.event({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": tokens,
                                             "total_tokens": 10 + tokens}})  # fmt: skip
        self.data(b"[DONE]")
        self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()

    async def until(self, after_s: float) -> None:
        # A timer of the event loop may fire a millisecond late; the last stretch is spun.
        await asyncio.sleep(max(0.0, self.received + after_s - time.monotonic() - 0.0015))
        while time.monotonic() < self.received + after_s:
            await asyncio.sleep(0)

    def choice(self, delta: dict[str, str], finish: str | None = None) -> None:
        self.event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    def event(self, obj: dict[str, object]) -> None:
        head = {"id": "chatcmpl-t", "object": "chat.completion.chunk", "created": 1, "model": "timing"}
        self.data(json.dumps({**head, **obj, "written": time.monotonic()}).encode())

    def data(self, payload: bytes) -> None:
        event = b"data: " + payload + b"\n\n"
        self.writer.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        lines = (line.lower().partition(b":") for line in head.split(b"\r\n"))
        length = next(int(value) for name, _, value in lines if name == b"content-length")
        body = json.loads(await reader.readexactly(length))
        await _Stream(writer, Schedule(**body.get("schedule", {})), time.monotonic()).run()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def _main() -> None:
    server = await asyncio.start_server(_serve, "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


@contextmanager
def timing_server() -> Iterator[str]:
    """The URL of a server that runs until the context ends."""
    argv = [sys.executable, os.fspath(__file__)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.terminate()


if __name__ == "__main__":
    asyncio.run(_main())
