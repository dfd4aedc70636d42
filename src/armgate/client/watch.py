"""Deadlines of one request: until the first byte, between reads, in all, and after the stream's end mark."""

from __future__ import annotations

import asyncio
import time
from types import TracebackType

from armgate.model.arms import Deadlines

DONE_GRACE_S = 0.5
"""How long a server may take to close a stream after `[DONE]`; then we close it."""


class Watch:
    """An async context that ends with TimeoutError when a deadline passes; `expired` says which.

    The reader only sets `touched` (an instant on `time.monotonic`) on each read: a timer looks at it when
    it fires, so that watching costs nothing per read. Keep-alives push the silence, never the whole.
    """

    def __init__(self, deadlines: Deadlines, begun: float) -> None:
        self.deadlines = deadlines
        self.begun = begun
        self.touched: float | None = None
        self.done = False
        self.expired: str | None = None
        self._timeout = asyncio.timeout(None)
        self._timer: asyncio.TimerHandle | None = None

    def allow_only_the_end(self) -> None:
        """The stream said that it is done: nothing but its closing is awaited, and that briefly."""
        if not self.done:
            self.done = True
            self._look()

    async def __aenter__(self) -> Watch:
        await self._timeout.__aenter__()
        self._look()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        await self._timeout.__aexit__(kind, error, trace)

    def _look(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        now = time.monotonic()
        due, words = min(self._due())
        if due <= now:
            self.expired = words
            self._timeout.reschedule(asyncio.get_running_loop().time())
        else:
            self._timer = asyncio.get_running_loop().call_later(due - now, self._look)

    def _due(self) -> list[tuple[float, str]]:
        limits = self.deadlines
        due = [(self.begun + limits.request_s, f"not finished within {limits.request_s:g} s")]
        if self.touched is None:
            due.append((self.begun + limits.first_byte_s, f"no byte within {limits.first_byte_s:g} s"))
        elif self.done:
            due.append((self.touched + DONE_GRACE_S, "left open after [DONE]"))
        else:
            due.append((self.touched + limits.silence_s, f"silent for {limits.silence_s:g} s"))
        return due
