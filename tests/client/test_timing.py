"""The client's clocks against a server of known timing; figures of its error are measured elsewhere."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from armgate.client.known_timing.process import timing_server
from armgate.client.recorder import Recorder
from armgate.client.send import send
from armgate.client.transport import SocketTimes, StampingSocket, open_client
from armgate.model.arms import Deadlines
from armgate.model.exchange import Exchange
from armgate.model.reading import read_response
from armgate.model.response import Channel
from armgate.model.sse import DONE, parse_sse

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with timing_server() as url:
        yield url


async def streams(url: str, folder: Path, n: int, **schedule: Any) -> list[Exchange]:
    body = {"stream": True, "schedule": schedule}
    async with open_client() as http:
        return list(
            await asyncio.gather(*(send(http, url, body, folder / str(i), Deadlines()) for i in range(n)))
        )


def written(exchange: Exchange) -> list[float]:
    """When the server wrote each text chunk, on the exchange's own clock."""
    assert exchange.clock.zero_s is not None
    chunks = [json.loads(event.data) for event in parse_sse(exchange.body) if event.data != DONE]
    texts = [chunk for chunk in chunks for choice in chunk["choices"] if any(choice["delta"].values())]
    return [
        chunk["written"] - exchange.clock.zero_s
        for chunk in texts
        if "role" not in chunk["choices"][0]["delta"]
    ]


@pytest.mark.parametrize("n", [1, 8])
async def test_stamps_follow_the_writing_and_never_precede_it(url: str, tmp_path: Path, n: int) -> None:
    for exchange in await streams(url, tmp_path, n, ttft_s=0.2, gap_s=0.01, deltas=30):
        stamps = [delta.at_s for delta in read_response(exchange).deltas]
        late = [stamp - instant for stamp, instant in zip(stamps, written(exchange), strict=True)]
        assert min(late) > -1e-4
        assert sorted(late)[len(late) // 2] < 0.25, "a busy machine may be late, but not by much"


async def test_ttft_is_that_of_text_and_counts_from_the_hand_over(url: str, tmp_path: Path) -> None:
    [exchange] = await streams(url, tmp_path, 1, ttft_s=0.3, gap_s=0.01, deltas=4, reasoning_deltas=2)
    timings = read_response(exchange).timings
    assert timings.ttft_s is not None
    assert 0.3 - 1e-3 < timings.ttft_s < 0.4
    assert timings.ttft_channel is Channel.REASONING
    assert timings.first_content_s is not None
    assert timings.first_content_s - timings.ttft_s == pytest.approx(0.02, abs=0.03)


async def test_a_late_usage_chunk_moves_no_text_time(url: str, tmp_path: Path) -> None:
    [exchange] = await streams(url, tmp_path, 1, ttft_s=0.1, gap_s=0.01, deltas=3, usage_after_s=0.5)
    response = read_response(exchange)
    assert response.timings.last_text_s is not None
    assert response.timings.last_text_s < 0.4
    assert response.timings.finish_s is not None
    assert response.timings.finish_s < 0.4
    assert response.timings.wall_s is not None
    assert response.timings.wall_s < 0.4
    assert response.timings.body_s is not None
    assert response.timings.body_s > 0.6
    assert response.usage is not None
    assert response.usage.completion_tokens == 9


async def test_a_stamp_is_of_the_socket_and_not_of_the_readers_turn(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns: list[float] = []
    receive, read = StampingSocket.recv, Recorder.read

    def recv(self: StampingSocket, *arguments: Any) -> bytes:
        data = receive(self, *arguments)
        # Whatever else the event loop has to do comes between the socket and the reading task.
        asyncio.get_running_loop().call_soon(time.sleep, 0.02)
        return data

    def noted(self: Recorder, at_s: float, data: bytes) -> None:
        turns.append(time.monotonic())
        read(self, at_s, data)

    monkeypatch.setattr(StampingSocket, "recv", recv)
    monkeypatch.setattr(Recorder, "read", noted)
    [exchange] = await streams(url, tmp_path, 1, ttft_s=0.1, gap_s=0.1, deltas=3)
    assert exchange.clock.zero_s is not None
    stamps = [exchange.clock.zero_s + frame.at_s for frame in exchange.frames]
    assert len(stamps) == len(turns) >= 3
    assert all(turn - stamp > 0.0195 for stamp, turn in zip(stamps, turns, strict=True))


async def test_both_ways_of_reading_from_a_socket_are_stamped() -> None:
    far, near = socket.socketpair()
    with far, StampingSocket(fileno=near.detach()) as stamping:
        stamping.times = SocketTimes()
        for read in (lambda: stamping.recv(10), lambda: stamping.recv_into(bytearray(10))):
            far.send(b"x")
            before = time.monotonic()
            read()
            assert stamping.times.read is not None
            assert before <= stamping.times.read <= time.monotonic()
        last = stamping.times.read
        far.close()
        assert stamping.recv(10) == b""
        assert stamping.times.read == last, "the end of a stream brings no bytes"
