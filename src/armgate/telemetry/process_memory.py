"""Traces the memory of a process tree and its host at an interval, one JSON line per reading."""

from __future__ import annotations

import asyncio
import itertools
import statistics
import time
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

import psutil

from armgate.model.measures import MemorySample, MemorySummary


def read_memory(pid: int, at_s: float) -> MemorySample:
    """One reading: RSS of `pid` and all its descendants, MemAvailable and swap in use, in bytes."""
    rss = [size for process in _tree(pid) if (size := _rss(process)) is not None]
    return MemorySample(
        at_s=round(at_s, 3),
        processes=len(rss),
        rss_bytes=sum(rss) if rss else None,
        available_bytes=psutil.virtual_memory().available,
        swap_used_bytes=psutil.swap_memory().used,
    )


def _tree(pid: int) -> list[psutil.Process]:
    try:
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    except psutil.Error:
        return []


def _rss(process: psutil.Process) -> int | None:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return None


class MemoryTrace:
    """Samples while its `async with` block runs, the first reading at entry and the last at exit.

    `at_s` in the file counts from entry. Readings are taken in a thread: walking a large tree would
    otherwise delay the arrival stamps of streams read by the same loop. A trace is one boot's: a file
    that exists is refused. An error of the disk surfaces when the block ends.
    """

    def __init__(self, pid: int, path: Path, interval_s: float = 1.0) -> None:
        if interval_s <= 0:
            raise ValueError("the sampling interval is a positive number of seconds")
        self.pid = pid
        self.path = path
        self.interval_s = interval_s
        self.samples: list[MemorySample] = []
        self._file: TextIO | None = None
        self._task: asyncio.Task[None] | None = None
        self._started_s = 0.0

    async def __aenter__(self) -> Self:
        self._file = await asyncio.to_thread(self._open)
        self._started_s = time.monotonic()
        await self._read()
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
            await self._read()
        finally:
            self._file.close()
        if not self._task.cancelled():
            self._task.result()

    def _open(self) -> TextIO:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return self.path.open("x", encoding="utf-8", buffering=1)

    async def _run(self) -> None:
        due_s = self._started_s
        while True:
            due_s = max(due_s + self.interval_s, time.monotonic())
            await asyncio.sleep(due_s - time.monotonic())
            await self._read()

    async def _read(self) -> None:
        self._keep(await asyncio.to_thread(read_memory, self.pid, time.monotonic() - self._started_s))

    def _keep(self, sample: MemorySample) -> None:
        assert self._file is not None
        self.samples.append(sample)
        self._file.write(sample.model_dump_json() + "\n")


def load_trace(lines: Iterable[str]) -> list[MemorySample]:
    """Samples of a trace file; a torn last line, left by a writer that died, is left out."""
    kept = [line for line in lines if line.strip()]
    if kept and not kept[-1].rstrip().endswith("}"):
        kept.pop()
    return [MemorySample.model_validate_json(line) for line in kept]


def summarise_memory(samples: Iterable[MemorySample]) -> MemorySummary:
    """Peak RSS and swap and lowest MemAvailable over the readings, with the instants of the extremes."""
    seen = sorted(samples, key=lambda sample: sample.at_s)
    if not seen:
        return MemorySummary(samples=0, interval_s=None, absent="no_reading")
    gaps = [later.at_s - earlier.at_s for earlier, later in itertools.pairwise(seen)]
    rss = [(s.rss_bytes, s.at_s) for s in seen if s.rss_bytes is not None]
    available = [(s.available_bytes, s.at_s) for s in seen if s.available_bytes is not None]
    peak_bytes, peak_at_s = max(rss, key=lambda reading: reading[0], default=(None, None))
    floor_bytes, floor_at_s = min(available, default=(None, None))
    return MemorySummary(
        samples=len(seen),
        interval_s=round(statistics.median(gaps), 3) if gaps else None,
        rss_peak_bytes=peak_bytes,
        rss_peak_at_s=peak_at_s,
        available_min_bytes=floor_bytes,
        available_min_at_s=floor_at_s,
        swap_peak_bytes=max((s.swap_used_bytes for s in seen if s.swap_used_bytes is not None), default=None),
        processes_max=max(sample.processes for sample in seen),
        absent=None if peak_bytes is not None else "no_process_seen",
    )
