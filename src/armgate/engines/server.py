"""A server for the length of one boot, whoever started it: where it listens, how it is, how it ends."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable
from enum import StrEnum
from pathlib import Path

from armgate.errors import BootError


class Listener(StrEnum):
    """Who holds the listening socket on a server's port."""

    NOBODY = "nobody"
    OURS = "ours"
    FOREIGN = "foreign"
    UNKNOWN = "unknown"
    """The host does not say: another user's process, another machine, or an attached server."""


async def _nothing() -> None:
    """What ends a server that is not ours: nothing."""


@dataclasses.dataclass
class Server:
    """Where a server listens, what it was started with, and how it ended if it has.

    `url` has no trailing `/v1`. `pid` is the root of its process tree on this host, `None` where there is
    none to see. `log` is `None` where the server's words cannot be read.
    """

    url: str
    ended: asyncio.Event
    argv: tuple[str, ...] = ()
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    port: int | None = None
    """The port on this host, where it is ours to look at."""
    log: Path | None = None
    pid: int | None = None
    notes: tuple[str, ...] = ()
    """What the launch lacked, in words for people."""
    api_key: str | None = None
    exit_code: int | None = None
    fault: BootError | None = None
    """Why Armgate ended it, where Armgate did."""
    listener: Callable[[], Listener] = lambda: Listener.UNKNOWN
    signals: Callable[[], dict[str, int]] = dict
    """Figures that grow while a start makes progress, by name; bytes."""
    kill: Callable[[], Awaitable[None]] = _nothing
    """Ends it at once."""
    facts: dict[str, str] = dataclasses.field(default_factory=dict)
    """What the launcher learned of the end: `oom_killed` of a container, for one."""

    @property
    def attached(self) -> bool:
        """Whether somebody else booted it: it has no log and no end of ours."""
        return self.log is None

    def log_text(self, start: int = 0) -> str:
        """The log from a byte on; empty where there is none."""
        if self.log is None or not self.log.exists():
            return ""
        with self.log.open("rb") as stream:
            stream.seek(start)
            return stream.read().decode("utf-8", "replace")

    def last_line(self) -> str:
        """The last line of the log that says something, from its last 2 kB."""
        if self.log is None or not self.log.exists():
            return ""
        with self.log.open("rb") as stream:
            stream.seek(max(0, self.log.stat().st_size - 2000))
            lines = stream.read().decode("utf-8", "replace").splitlines()
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def death(self) -> BootError:
        """Why a server that had been ready is gone."""
        if self.fault is not None:
            return self.fault
        return BootError("engine_died", f"the engine ended by itself, exit code {self.exit_code}")
