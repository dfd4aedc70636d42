"""The memory floor: a boot that eats its host's memory is ended before the host is."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

import psutil

from armgate.engines.server import Server
from armgate.errors import BootError

INTERVAL_S = 0.25
"""GB10 hosts were seen to lose 30 GiB within 2 s of a start: a slower look comes too late."""


def available_bytes() -> int:
    return int(psutil.virtual_memory().available)


def below_floor(available: int, floor: int) -> BootError | None:
    if available >= floor:
        return None
    return BootError(
        "host_memory_exhausted",
        f"{available / 2**30:.2f} GiB of the host's memory were left, below the floor of "
        f"{floor / 2**30:.2f} GiB; the boot was ended to save the host",
    )


@contextlib.asynccontextmanager
async def memory_floor(
    server: Server, floor: int, read: Callable[[], int] = available_bytes
) -> AsyncIterator[None]:
    """Ends `server` once less than `floor` bytes are available; its `fault` then says why."""
    if server.attached or floor == 0:
        yield
        return
    task = asyncio.create_task(_watch(server, floor, read))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


async def _watch(server: Server, floor: int, read: Callable[[], int]) -> None:
    while not server.ended.is_set():
        fault = below_floor(read(), floor)
        if fault is not None:
            server.fault = fault
            await server.kill()
            return
        await asyncio.sleep(INTERVAL_S)
