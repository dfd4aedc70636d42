"""Byte channels to a sandbox with deadlines on every read and write."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import Protocol

HANG_UP_S = 0.5
"""How long a sandbox may take to end by itself when it is closed, before it is killed."""


class ChannelClosed(Exception):  # noqa: N818 - a state of the peer, handled as a value by its only caller
    """The sandbox's end is gone."""


class ChannelSilent(Exception):  # noqa: N818
    """The deadline passed."""


class Channel(Protocol):
    """Deadlines are instants of `time.monotonic()`."""

    def send(self, data: bytes, deadline: float) -> None: ...

    def receive(self, deadline: float) -> bytes:
        """At least one byte; ChannelClosed or ChannelSilent otherwise."""
        ...

    def last_words(self) -> str:
        """What the sandbox's own program said when it could not start; empty where nothing is known."""
        ...

    def close(self) -> None:
        """Ends the sandbox too, and waits until it is gone."""
        ...


class ProcessChannel:
    """The standard streams of a process of ours, in a session of its own."""

    def __init__(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        cwd: str = "/",
        uid: int | None = None,
    ) -> None:
        drop = {} if uid is None else {"user": uid, "group": uid, "extra_groups": ()}
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the channel
        self.process = subprocess.Popen(
            list(argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            bufsize=0,
            start_new_session=True,
            env=dict(environment),
            cwd=cwd,
            **drop,  # type: ignore[call-overload]
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._in, self._out = self.process.stdin.fileno(), self.process.stdout.fileno()
        os.set_blocking(self._in, False)

    def send(self, data: bytes, deadline: float) -> None:
        view = memoryview(data)
        while view:
            _wait([], [self._in], deadline)
            try:
                view = view[os.write(self._in, view) :]
            except BlockingIOError:
                continue
            except OSError:
                raise ChannelClosed from None

    def receive(self, deadline: float) -> bytes:
        _wait([self._out], [], deadline)
        data = os.read(self._out, 1 << 16)
        if not data:
            raise ChannelClosed
        return data

    def last_words(self) -> str:
        self._said.seek(0)
        lines = self._said.read(4096).decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""

    def close(self) -> None:
        for stream in (self.process.stdin, self.process.stdout, self._said):
            if stream is not None:
                stream.close()
        try:
            # The harness ends when its host hangs up, and what started it then takes its leave in order.
            self.process.wait(HANG_UP_S)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def _wait(readable: list[int], writable: list[int], deadline: float) -> None:
    poll = select.poll()
    for descriptor in readable:
        poll.register(descriptor, select.POLLIN)
    for descriptor in writable:
        poll.register(descriptor, select.POLLOUT)
    if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        raise ChannelSilent
