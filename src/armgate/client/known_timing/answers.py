"""Answers on a schedule: generators that yield the instants they wait for and write in between."""

from __future__ import annotations

import json
import time
from collections.abc import Generator
from typing import Any

from armgate.client.known_timing.connection import Connection
from armgate.client.known_timing.schedule import Schedule, Written

HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
    b"Connection: keep-alive\r\n\r\n"
)
DONE = b"data: [DONE]\n\n"


class Stream:
    """One request being answered. `run` yields each instant that it waits for."""

    def __init__(self, connection: Connection, schedule: Schedule, log: Written, chat: bool) -> None:
        self.connection, self.schedule, self.log, self.chat = connection, schedule, log, chat
        kind = "chat.completion.chunk" if chat else "text_completion"
        head = {"id": "cmpl-t", "object": kind, "created": 1, "model": "timing"}
        self.head = json.dumps(head)[:-1]

    def run(self) -> Generator[float, None, None]:
        plan, log = self.schedule, self.log
        if plan.fault == "http_500":
            error = {"error": {"message": "internal", "type": "InternalServerError", "code": 500}}
            self.connection.write(whole(error, "500 Internal Server Error"))
            return
        self.connection.write(HEAD)
        if plan.role_chunk and self.chat:
            self.choice({"role": "assistant", "content": ""}, time.monotonic())
        texts = {"": plan.deltas, "silent_end": plan.deltas, "empty": 0}.get(plan.fault, plan.deltas // 2)
        for number in range(texts):
            due = log.received + plan.ttft_s + number * plan.gap_s
            yield due
            self.text(number, due)
        if plan.fault in {"", "empty"}:
            yield from self.end()
        elif plan.fault == "error_event":
            self.event({"error": {"message": "engine lost", "type": "E", "code": 500}}, time.monotonic())
            self.data(DONE)
        if plan.fault == "cut":
            self.connection.closed = True
        else:
            self.connection.write(b"0\r\n\r\n")

    def end(self) -> Generator[float, None, None]:
        plan, log = self.schedule, self.log
        last = log.received + plan.ttft_s + max(0, plan.deltas - 1) * plan.gap_s
        if plan.fault == "empty":
            yield log.received + plan.ttft_s
        self.choice({}, time.monotonic(), finish="stop")
        if plan.usage_after_s:
            yield last + plan.usage_after_s
        self.event({"choices": [], "usage": usage(log), "received": log.received}, time.monotonic())
        self.data(DONE)

    def text(self, number: int, due: float) -> None:
        plan, log = self.schedule, self.log
        ids = list(range(plan.tokens_per_delta)) if plan.token_ids else None
        now = time.monotonic()
        log.first_text = now if log.first_text is None else log.first_text
        log.last_text, log.texts = now, log.texts + 1
        log.latest_s = max(log.latest_s, now - due)
        name = "reasoning" if number < plan.reasoning_deltas else "content"
        self.choice({name: plan.text}, now, ids=ids, due=due)

    def choice(
        self,
        delta: dict[str, str],
        written: float,
        finish: str | None = None,
        ids: list[int] | None = None,
        due: float | None = None,
    ) -> None:
        said: dict[str, Any] = {"delta": delta} if self.chat else {"text": delta.get("content", "")}
        choice = {"index": 0, **said, "finish_reason": finish} | ({} if ids is None else {"token_ids": ids})
        self.event({"choices": [choice]} | ({} if due is None else {"due": due}), written)

    def event(self, obj: dict[str, Any], written: float) -> None:
        rest = json.dumps({**obj, "written": written})[1:]
        self.data(f"data: {self.head}, {rest}\n\n".encode())

    def data(self, event: bytes) -> None:
        self.connection.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")


def answered_whole(stream: Stream) -> Generator[float, None, None]:
    """The answer to a request that asks for no stream: everything at the instant of the last text."""
    plan, log = stream.schedule, stream.log
    yield log.received + plan.ttft_s + max(0, plan.deltas - 1) * plan.gap_s
    text = plan.text * plan.deltas
    said = {"message": {"role": "assistant", "content": text}} if stream.chat else {"text": text}
    choice = {"index": 0, **said, "finish_reason": "stop"}
    body = {"id": "cmpl-t", "model": "timing", "choices": [choice], "usage": usage(log)}
    stream.connection.write(whole(body))


def usage(log: Written) -> dict[str, Any]:
    return {
        "prompt_tokens": log.prompt_tokens,
        "completion_tokens": log.tokens,
        "total_tokens": log.prompt_tokens + log.tokens,
        "prompt_tokens_details": {"cached_tokens": 0},
    }


def whole(body: dict[str, Any], status: str = "200 OK") -> bytes:
    data = json.dumps(body).encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
    return head.encode() + data
