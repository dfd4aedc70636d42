"""Sending one request and recording all that comes back, each read stamped before anything looks at it."""

from __future__ import annotations

import asyncio
import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import aiohttp
import httpx

from armgate.client.recorder import Recorder
from armgate.client.secrets import NO_SECRETS, Secrets
from armgate.client.transport import SOCKET_TIMES, SocketTimes
from armgate.client.watch import Watch
from armgate.model.arms import Deadlines
from armgate.model.base import Json
from armgate.model.exchange import CHAT, Clock, Exchange, Fate
from armgate.model.sse import Sentinel

SIZE_LIMIT_BYTES = 64 * 2**20
_FINISHING = ThreadPoolExecutor(1, "armgate-finishing")
"""One thread, so that the disk's work for ended streams does not crowd the interpreter of running ones."""

_RUNNING: set[_Attempt] = set()
_PEACE_S = 0.25
"""How long an ended stream's file waits for streams under way: those that began together end together, and
the last stamps of each decide its rate."""
_LOOK_S = 0.01

CLOSE_S = 2.0
"""How long the closing of a connection may take before it is left to the operating system."""


async def send(
    http: httpx.AsyncClient,
    url: str,
    body: dict[str, Json],
    stem: Path,
    deadlines: Deadlines,
    *,
    endpoint: str = CHAT,
    secrets: Secrets = NO_SECRETS,
    scheduled_at: float | None = None,
    size_limit_bytes: int = SIZE_LIMIT_BYTES,
) -> Exchange:
    """Posts `body` to `url` + `endpoint` and records the exchange in `<stem>.jsonl` (or `.jsonl.gz`).

    `scheduled_at` is the instant on `time.monotonic` at which the request was due. Whatever the server or
    the network does is the exchange's fate. Raises RecordError where the disk refuses; a cancellation
    finishes the file with the fate `cut` and goes on.
    """
    request = http.build_request(
        "POST",
        url.rstrip("/") + endpoint,
        content=json.dumps(body, allow_nan=False).encode(),
        headers={"Content-Type": "application/json"},
        timeout=None,
    )
    recorder = Recorder(stem, secrets)
    try:
        recorder.head(body, endpoint)
        attempt = _Attempt(recorder, deadlines, size_limit_bytes, scheduled_at)
        try:
            await attempt.run(http, request)
        except asyncio.CancelledError:
            attempt.ended(Fate.CUT, "interrupted")
            attempt.finish()
            raise
        return await _to_its_end(attempt)
    finally:
        recorder.close()


class _Attempt:
    """One request under way. Instants are on `time.monotonic`; zero of the record is the hand-over."""

    def __init__(
        self, recorder: Recorder, deadlines: Deadlines, size_limit_bytes: int, scheduled_at: float | None
    ) -> None:
        self.recorder = recorder
        self.size_limit_bytes = size_limit_bytes
        self.begun = time.monotonic()
        self.scheduled = self.begun if scheduled_at is None else scheduled_at
        self.times = SocketTimes()
        self.watch = Watch(deadlines, self.begun)
        self.headers_at: float | None = None
        self.end_at = self.begun
        self.fate = Fate.CUT
        self.error: str | None = None
        self.left_open = False

    async def run(self, http: httpx.AsyncClient, request: httpx.Request) -> None:
        SOCKET_TIMES.set(self.times)
        _RUNNING.add(self)
        try:
            async with self.watch:
                await self._exchange(http, request)
        except TimeoutError as error:
            if self.watch.expired is None:
                self.ended(Fate.DROPPED, _told(error))
            elif self.watch.done:
                self.left_open = True
                self.ended(Fate.COMPLETE, None)
            else:
                self.ended(Fate.TIMEOUT, self.watch.expired)
        except (httpx.TransportError, aiohttp.ClientError, OSError) as error:
            self.ended(_fate_of(error), _told(error))
        finally:
            SOCKET_TIMES.set(None)
            _RUNNING.discard(self)

    async def _exchange(self, http: httpx.AsyncClient, request: httpx.Request) -> None:
        response = await http.send(request, stream=True)
        try:
            self.headers_at = self._read_at()
            self.recorder.answer(response.status_code, response.headers, self._since(self.headers_at))
            await self._read(response)
        finally:
            await _close(response)

    async def _read(self, response: httpx.Response) -> None:
        encoding = response.headers.get("content-encoding", "identity")
        if encoding not in {"identity", ""}:
            # Secrets cannot be masked in a compressed body, so it is not kept at all.
            self.ended(Fate.CUT, f"body came as {encoding} although identity was asked; it is not recorded")
            return
        sentinel = Sentinel()
        size = 0
        async for data in response.aiter_raw():
            at = self._read_at()
            self.watch.touched = at
            self.recorder.read(self._since(at), data)
            size += len(data)
            if size > self.size_limit_bytes:
                self.ended(Fate.CUT, f"body is longer than {self.size_limit_bytes} bytes")
                return
            if sentinel.seen_after(data):
                self.watch.allow_only_the_end()
        self.ended(Fate.COMPLETE, None)

    def ended(self, fate: Fate, error: str | None) -> None:
        self.fate, self.error, self.end_at = fate, error, time.monotonic()

    def finish(self) -> Exchange:
        clock = Clock(
            zero_s=round(self._zero, 7),
            scheduled_s=self._since(self.scheduled),
            begun_s=self._since(self.begun),
            headers_s=None if self.headers_at is None else self._since(self.headers_at),
            end_s=self._since(self.end_at),
        )
        return self.recorder.finish(self.fate, clock, self.error, self.left_open)

    def _read_at(self) -> float:
        """When the bytes in hand left the socket; one read is over before the next begins."""
        return time.monotonic() if self.times.read is None else self.times.read

    def _since(self, instant: float) -> float:
        return round(instant - self._zero, 7)

    @property
    def _zero(self) -> float:
        """The hand-over; the beginning where there was none."""
        return self.begun if self.times.handed_over is None else self.times.handed_over


async def _to_its_end(attempt: _Attempt) -> Exchange:
    """Finishes the file off the event loop, whose stamps must not wait for a disk; a cancellation waits."""
    until = time.monotonic() + _PEACE_S
    finishing = asyncio.get_running_loop().run_in_executor(_FINISHING, _finished_in_peace, attempt, until)
    try:
        return await asyncio.shield(finishing)
    except asyncio.CancelledError:
        await asyncio.wait([finishing])
        raise


def _finished_in_peace(attempt: _Attempt, until: float) -> Exchange:
    while _RUNNING and time.monotonic() < until:
        time.sleep(_LOOK_S)
    return attempt.finish()


async def _close(response: httpx.Response) -> None:
    """Closes the connection. An answer not read to its end may make that fail or hang; that tells nothing."""
    try:
        async with asyncio.timeout(CLOSE_S):
            await response.aclose()
    except (TimeoutError, httpx.TransportError, aiohttp.ClientError, OSError):
        return


def _fate_of(error: Exception) -> Fate:
    """httpx_aiohttp puts a lost connection under httpx's timeouts; what aiohttp raised tells them apart."""
    cause = error if isinstance(error, aiohttp.ClientError) else error.__cause__
    return Fate.REFUSED if isinstance(cause, aiohttp.ClientConnectorError) else Fate.DROPPED


def _told(error: BaseException) -> str:
    cause = error.__cause__ or error
    return " ".join(f"{type(cause).__name__}: {cause}".split())[:500]
