"""Readings of a server's counters while a gate runs: at an interval, and at rest between two probes."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from armgate.model.evidence import CounterReading
from armgate.telemetry.metrics import parse_counters, unreachable

Fetch = Callable[[], Awaitable[tuple[int | None, bytes]]]
"""One page of the server: its HTTP status, `None` where no answer came, and its body."""


class CounterTrace:
    """Reads every `interval_s` while its `async with` block runs, one JSON line per reading.

    Only series whose names are in `names` (or begin with one and an underscore) are kept: the pages before
    and after a gate are kept whole, and a page each second of a long gate would be most of a run's bytes.
    """

    def __init__(self, fetch: Fetch, path: Path, interval_s: float, names: Iterable[str]) -> None:
        self._fetch, self.path, self.interval_s = fetch, path, interval_s
        self._starts = tuple(name.encode() for name in names)
        self._file: TextIO | None = None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("w", encoding="utf-8", buffering=1)
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._task is not None
        assert self._file is not None
        self._task.cancel()
        try:
            await asyncio.wait({self._task})
        finally:
            self._file.close()
        if not self._task.cancelled():
            self._task.result()

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self.interval_s)
            self.keep(*await self._fetch())

    def keep(self, status: int | None, page: bytes, after_probe: str | None = None) -> None:
        """Write one reading; `after_probe` names the probe after which the server was at rest."""
        assert self._file is not None
        line: dict[str, object] = {"at_s": time.monotonic(), "status": status}
        if status == 200:
            kept = [one for one in page.splitlines() if one.startswith(self._starts)]
            line["page"] = b"\n".join(kept).decode("utf-8", "replace")
        if after_probe is not None:
            line["after_probe"] = after_probe
        self._file.write(json.dumps(line) + "\n")


def load_counter_trace(lines: Iterable[str]) -> Iterator[CounterReading]:
    """The readings of a trace file; a torn last line, left by a writer that died, is left out."""
    for text in lines:
        if not text.rstrip().endswith("}"):
            return
        line = json.loads(text)
        at_s = float(line["at_s"])
        counters = (
            parse_counters(line["page"] + "\n", at_s)
            if line["status"] == 200
            else unreachable(at_s, f"HTTP {line['status']}")
        )
        yield CounterReading(counters=counters, after_probe=line.get("after_probe"))
