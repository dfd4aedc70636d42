"""Whether a start that says nothing still moves: a slow download or weight load against a hang."""

from __future__ import annotations

from collections.abc import Mapping

import psutil

STEP_BYTES = 2**20
"""Growth below this is noise of a waiting program and no progress; the log counts to the byte."""
LOG = "log"


def growth(root: int, *, with_root: bool) -> dict[str, int]:
    """Bytes that a tree of processes has read, written and holds; what cannot be read is left out.

    A supervisor at the root reads all the time and is told apart by `with_root`.
    """
    totals = {"read": 0, "disk_read": 0, "written": 0, "resident": 0}
    try:
        process = psutil.Process(root)
        tree = [*([process] if with_root else []), *process.children(recursive=True)]
    except psutil.Error:
        return {}
    for process in tree:
        try:
            io, memory = process.io_counters(), process.memory_info()
        except psutil.Error:
            continue
        totals["read"] += io.read_chars
        totals["disk_read"] += io.read_bytes
        totals["written"] += io.write_bytes
        totals["resident"] += memory.rss
    return totals


class StallWatch:
    """Since when nothing has moved. Instants in seconds on any one clock; `signals` are bytes by name."""

    def __init__(self, started_s: float, signals: Mapping[str, int] | None = None) -> None:
        self.moved_s = started_s
        self._marks = dict(signals or {})

    def observe(self, at_s: float, signals: Mapping[str, int]) -> None:
        for name, value in signals.items():
            step = 1 if name == LOG else STEP_BYTES
            if value - self._marks.get(name, 0) >= step:
                self._marks[name] = value
                self.moved_s = at_s

    def still_s(self, at_s: float) -> float:
        return at_s - self.moved_s
