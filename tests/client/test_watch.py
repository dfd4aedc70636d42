from __future__ import annotations

import asyncio
import time

import pytest

from armgate.client.watch import DONE_GRACE_S, Watch
from armgate.model.arms import Deadlines

pytestmark = pytest.mark.anyio

LIMITS = Deadlines(first_byte_s=0.15, silence_s=0.1, request_s=0.4)


async def reading(watch: Watch, touches: list[float]) -> None:
    async with watch:
        for touch in touches:
            await asyncio.sleep(watch.begun + touch - time.monotonic())
            watch.touched = time.monotonic()
        await asyncio.sleep(5)


async def test_in_time_nothing_happens() -> None:
    watch = Watch(LIMITS, time.monotonic())
    async with watch:
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.15)
    assert watch.expired is None


@pytest.mark.parametrize(
    ("touches", "expired", "after_s"),
    [
        ([], "no byte within 0.15 s", 0.15),
        ([0.1], "silent for 0.1 s", 0.2),
        ([0.05 * n for n in range(1, 9)], "not finished within 0.4 s", 0.4),
    ],
)
async def test_the_first_deadline_that_passes_ends_it(
    touches: list[float], expired: str, after_s: float
) -> None:
    begun = time.monotonic()
    watch = Watch(LIMITS, begun)
    with pytest.raises(TimeoutError):
        await reading(watch, touches)
    assert watch.expired == expired
    assert after_s <= time.monotonic() - begun < after_s + 3


async def test_after_the_end_mark_only_the_closing_is_awaited() -> None:
    async def finished_stream() -> None:
        async with Watch(Deadlines(), begun) as watch:
            watch.touched = time.monotonic()
            watch.allow_only_the_end()
            await asyncio.sleep(5)

    begun = time.monotonic()
    with pytest.raises(TimeoutError):
        await finished_stream()
    assert DONE_GRACE_S <= time.monotonic() - begun < 4


async def test_a_cancellation_from_outside_stays_one() -> None:
    async def waits() -> None:
        async with Watch(Deadlines(), time.monotonic()):
            await asyncio.sleep(5)

    task = asyncio.create_task(waits())
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
