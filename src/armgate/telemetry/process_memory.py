"""Traces the memory of a process tree and its host at an interval, one JSON line per reading."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

import psutil

from armgate.model.memory import GpuMemory, MemorySample

ReadGpus = Callable[[], tuple[GpuMemory, ...] | None]
CGROUPS = Path("/sys/fs/cgroup")


def no_gpus() -> tuple[GpuMemory, ...] | None:
    """Where no driver is asked."""
    return None


def read_memory(pid: int | None, at_s: float, gpus: ReadGpus = no_gpus) -> MemorySample:
    """One reading: RSS of `pid` and all its descendants, its control group, accelerators, the host; bytes.

    Without a `pid` there is nothing to see: the server runs elsewhere, and this host is not its own.
    """
    if pid is None:
        return MemorySample(
            at_s=round(at_s, 3), processes=0, rss_bytes=None, available_bytes=None, swap_used_bytes=None
        )
    seen = [(process, size) for process in _tree(pid) if (size := _rss(process)) is not None]
    rss = [size for _, size in seen]
    return MemorySample(
        at_s=round(at_s, 3),
        processes=len(rss),
        rss_bytes=sum(rss) if rss else None,
        available_bytes=psutil.virtual_memory().available,
        swap_used_bytes=psutil.swap_memory().used,
        ranks=_by_rank(seen),
        container_bytes=container_bytes(pid),
        gpus=gpus(),
    )


def container_bytes(pid: int, proc: Path = Path("/proc"), groups: Path = CGROUPS) -> int | None:
    """Memory that the kernel charges to the control group of `pid`; `None` if that is this program's too."""
    theirs, ours = _group(proc / str(pid), groups), _group(proc / "self", groups)
    if theirs is None or theirs == ours:
        return None
    try:
        return int(theirs.read_text())
    except (OSError, ValueError):
        return None


def _group(process: Path, groups: Path) -> Path | None:
    """The file that tells the group's use: `memory.current` of version 2, `memory.usage_in_bytes` of 1."""
    try:
        lines = (process / "cgroup").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and (groups / "cgroup.controllers").exists():
            return groups / path.lstrip("/") / "memory.current"
        if "memory" in controllers.split(","):
            return groups / "memory" / path.lstrip("/") / "memory.usage_in_bytes"
    return None


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


def _by_rank(seen: Iterable[tuple[psutil.Process, int]]) -> dict[str, int]:
    """RSS by the name that each process gives itself; further ones of a name are numbered by age."""
    out: dict[str, int] = {}
    for process, size in sorted(seen, key=lambda one: one[0].pid):
        name = _title(process)
        count = sum(1 for known in out if known == name or known.startswith(f"{name}#"))
        out[name if count == 0 else f"{name}#{count + 1}"] = size
    return out


def _title(process: psutil.Process) -> str:
    """Engines write their rank into the command line (`VLLM::Worker_TP0`); others have a program's name."""
    try:
        words = process.cmdline()
        return words[0] if words and "::" in words[0] else process.name()
    except psutil.Error:
        return "gone"


class MemoryTrace:
    """Samples while its `async with` block runs, the first reading at entry and the last at exit.

    `at_s` in the file is on the machine's monotonic clock. Readings are taken in a thread: walking a large
    tree would otherwise delay the arrival stamps of streams read by the same loop. A trace is one boot's: a
    file that exists is refused. An error of the disk surfaces when the block ends.
    """

    def __init__(
        self, pid: int | None, path: Path, interval_s: float = 1.0, gpus: ReadGpus = no_gpus
    ) -> None:
        if interval_s <= 0:
            raise ValueError("the sampling interval is a positive number of seconds")
        self.pid, self.gpus = pid, gpus
        self.path = path
        self.interval_s = interval_s
        self.samples: list[MemorySample] = []
        self._file: TextIO | None = None
        self._task: asyncio.Task[None] | None = None
        self._reading = asyncio.Lock()

    async def __aenter__(self) -> Self:
        self._file = await asyncio.to_thread(self._open)
        await self.read()
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
            await self.read()
        finally:
            self._file.close()
        if not self._task.cancelled():
            self._task.result()

    def _open(self) -> TextIO:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return self.path.open("x", encoding="utf-8", buffering=1)

    async def _run(self) -> None:
        due_s = time.monotonic()
        while True:
            due_s = max(due_s + self.interval_s, time.monotonic())
            await asyncio.sleep(due_s - time.monotonic())
            await self.read()

    async def read(self) -> None:
        """One more reading, besides those at the interval; readings stand in the order of their instants."""
        async with self._reading:
            self._keep(await asyncio.to_thread(read_memory, self.pid, time.monotonic(), self.gpus))

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
