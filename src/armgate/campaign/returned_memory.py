"""Accelerator memory after a boot: back where it was before, or the next arm starts in a smaller machine."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from armgate.model.memory import GpuMemory

ReadGpus = Callable[[], Sequence[GpuMemory] | None]
TOLERANCE_BYTES = 256 * 2**20
"""Drivers keep a little, and desktops draw."""
INTERVAL_S = 0.5


async def memory_returned(before: Sequence[GpuMemory] | None, read: ReadGpus, wait_s: float) -> list[str]:
    """Waits for each accelerator's memory to come back; what has not within `wait_s`, in words."""
    until = time.monotonic() + wait_s
    while True:
        kept = _kept(before, read())
        if not kept or time.monotonic() >= until:
            break
        await asyncio.sleep(INTERVAL_S)
    return [
        f"accelerator {index}: {held / 2**30:.2f} GiB more in use than before the boot, "
        f"{wait_s:g} s after its end"
        for index, held in kept.items()
    ]


def _kept(before: Sequence[GpuMemory] | None, now: Sequence[GpuMemory] | None) -> dict[int, int]:
    """Accelerator -> bytes in use beyond what was before; none where the driver does not tell."""
    used = {gpu.index: gpu.used_bytes for gpu in before or ()}
    kept = {}
    for gpu in now or ():
        was = used.get(gpu.index)
        if was is not None and gpu.used_bytes is not None and gpu.used_bytes > was + TOLERANCE_BYTES:
            kept[gpu.index] = gpu.used_bytes - was
    return kept
