"""Warm sandboxes to borrow, and whose turn it is: many cases side by side, or one alone."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from armgate.execution.sandbox import Sandbox
from armgate.execution.tier import TierBackend
from armgate.model.execution import Limits

Size = tuple[int, int]
"""Memory and scratch of a sandbox in MiB: fixed when it starts."""


class Pool:
    """Idle sandboxes by size. One that a case has left unclean, or lost, is closed and not lent again."""

    def __init__(self, backend: TierBackend) -> None:
        self._backend = backend
        self._idle: dict[Size, list[Sandbox]] = {}
        self._lock = threading.Lock()
        self._closed = False

    @contextlib.contextmanager
    def borrowed(self, limits: Limits) -> Iterator[Sandbox]:
        size = (limits.memory_mb, limits.scratch_mb)
        with self._lock:
            idle = self._idle.setdefault(size, [])
            sandbox = idle.pop() if idle else None
        sandbox = sandbox or self._backend.start(limits)
        try:
            yield sandbox
        except BaseException:
            sandbox.usable = False
            raise
        finally:
            self._give_back(size, sandbox)

    def _give_back(self, size: Size, sandbox: Sandbox) -> None:
        with self._lock:
            keep = sandbox.usable and not self._closed
            if keep:
                self._idle[size].append(sandbox)
        if not keep:
            sandbox.close()

    @contextlib.contextmanager
    def single_use(self, limits: Limits) -> Iterator[Sandbox]:
        """A fresh sandbox that is closed afterwards."""
        sandbox = self._backend.start(limits)
        try:
            yield sandbox
        finally:
            sandbox.close()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            sandboxes = [sandbox for idle in self._idle.values() for sandbox in idle]
            self._idle.clear()
        for sandbox in sandboxes:
            sandbox.close()
        self._backend.close()


class Turns:
    """At most `workers` cases at once; `alone` waits until none runs and keeps others waiting."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._running = 0
        self._alone = False
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def shared(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._alone and self._running < self._workers)
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._alone)
            self._alone = True
            self._changed.wait_for(lambda: self._running == 0)
        try:
            yield
        finally:
            with self._changed:
                self._alone = False
                self._changed.notify_all()
