"""The server of known timing: one thread, `select`, nothing shared with the client that is measured."""

from __future__ import annotations

import contextlib
import dataclasses
import heapq
import json
import select
import socket
import time
from collections import deque
from collections.abc import Generator
from typing import Any

from armgate.client.known_timing.answers import Stream, answered_whole, whole
from armgate.client.known_timing.connection import Connection
from armgate.client.known_timing.schedule import Schedule, Written

RECV_BYTES = 1 << 18
KEPT_STREAMS = 4096


class Server:
    """Accepts, reads, and wakes each stream at the instant it waits for.

    It waits in `select`, whose timeout is exact to tens of microseconds where that of `epoll`, and so of
    asyncio, is a whole millisecond. Connections are watched by an `epoll` inside that `select`.
    """

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.listener.setblocking(False)
        self.poll = select.epoll()
        self.poll.register(self.listener.fileno(), select.EPOLLIN)
        self.connections: dict[int, Connection] = {}
        self.waiting: list[tuple[float, int, Stream, Generator[float, None, None]]] = []
        self.begun = 0
        self.streams: deque[Written] = deque(maxlen=KEPT_STREAMS)
        self.schedule: dict[str, Any] = {}
        self.faults: list[str] = [""]
        self.streamed = 0

    @property
    def port(self) -> int:
        return int(self.listener.getsockname()[1])

    def serve(self) -> None:
        while True:
            wait_s = max(0.0, self.waiting[0][0] - time.monotonic()) if self.waiting else None
            ready, _, _ = select.select([self.poll.fileno()], [], [], wait_s)
            while self.waiting and self.waiting[0][0] <= time.monotonic():
                _, _, stream, steps = heapq.heappop(self.waiting)
                self._step(stream, steps)
            if ready:
                for descriptor, event in self.poll.poll(0):
                    self._on_event(descriptor, event)

    def _on_event(self, descriptor: int, event: int) -> None:
        if descriptor == self.listener.fileno():
            self._accept()
            return
        connection = self.connections[descriptor]
        if event & select.EPOLLOUT:
            connection.flush()
        if event & ~select.EPOLLOUT:
            self._read(connection)
        self._settle(connection)

    def _accept(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                sock, _ = self.listener.accept()
                sock.setblocking(False)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.connections[sock.fileno()] = Connection(sock)
                self.poll.register(sock.fileno(), select.EPOLLIN)

    def _read(self, connection: Connection) -> None:
        try:
            data = connection.sock.recv(RECV_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            connection.closed = True
            return
        connection.received += data
        self._answer(connection)

    def _answer(self, connection: Connection) -> None:
        """Begins the answer to a request that has come whole."""
        head, end, rest = connection.received.partition(b"\r\n\r\n")
        if connection.busy or not end:
            return
        lines = (line.lower().partition(b":") for line in head.split(b"\r\n"))
        length = next((int(value) for name, _, value in lines if name == b"content-length"), 0)
        if len(rest) < length:
            return
        received = time.monotonic()
        connection.received = rest[length:]
        method, path, _ = head.split(b" ", 2)
        body = json.loads(rest[:length]) if length else {}
        if method == b"POST":
            self._begin(connection, path.decode(), body, received)
        elif method == b"PUT":
            self._program(connection, body)
        else:
            self._tell(connection, path.decode())

    def _begin(self, connection: Connection, path: str, body: dict[str, Any], received: float) -> None:
        streamed = body.get("stream") is True
        own: dict[str, Any] = {"token_ids": body.get("return_token_ids") is True}
        if streamed:
            own["fault"] = self.faults[self.streamed % len(self.faults)]
        self.streamed += streamed
        schedule = Schedule(**{**own, **self.schedule, **body.get("schedule", {})})
        log = Written(received, streamed, schedule.fault, schedule.deltas * schedule.tokens_per_delta,
                      schedule.prompt_tokens)  # fmt: skip
        self.streams.append(log)
        stream = Stream(connection, schedule, log, chat="chat" in path)
        connection.busy = True
        self._step(stream, stream.run() if streamed else answered_whole(stream))

    def _step(self, stream: Stream, steps: Generator[float, None, None]) -> None:
        connection = stream.connection
        try:
            due = None if connection.closed else next(steps)
        except StopIteration:
            due = None
        if due is not None:
            self.begun += 1
            heapq.heappush(self.waiting, (due, self.begun, stream, steps))
        else:
            stream.log.end = time.monotonic()
            connection.busy = False
            self._answer(connection)
        self._settle(connection)

    def _settle(self, connection: Connection) -> None:
        """Closes what is over, and asks to be told when a full socket takes more."""
        descriptor = connection.sock.fileno()
        if descriptor < 0:
            return
        if connection.closed:
            self.poll.unregister(descriptor)
            del self.connections[descriptor]
            connection.sock.close()
            return
        if connection.asked_to_write != bool(connection.unsent):
            connection.asked_to_write = not connection.asked_to_write
            self.poll.modify(descriptor, select.EPOLLIN | select.EPOLLOUT * connection.asked_to_write)

    def _program(self, connection: Connection, body: dict[str, Any]) -> None:
        """`PUT /schedule`: what requests get that bring no schedule, one fault after the other; a new log."""
        self.schedule, self.faults = body.get("schedule", {}), body.get("faults") or [""]
        self.streamed = 0
        self.streams.clear()
        connection.write(whole({}))

    def _tell(self, connection: Connection, path: str) -> None:
        if path.endswith("/streams"):
            connection.write(whole({"streams": [dataclasses.asdict(log) for log in self.streams]}))
        else:
            model = {
                "id": "timing",
                "object": "model",
                "created": 1,
                "owned_by": "armgate",
                "max_model_len": 65536,
            }
            connection.write(whole({"object": "list", "data": [model]}))
