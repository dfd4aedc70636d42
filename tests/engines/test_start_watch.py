"""What is watched while a server starts: its port, its progress, its host's memory."""

import asyncio
import os
import socket
from pathlib import Path

import pytest

from armgate.engines.listening import claim_port, free_port, listener_of
from armgate.engines.memory_floor import memory_floor
from armgate.engines.progress import LOG, STEP_BYTES, StallWatch, growth
from armgate.engines.server import Listener, Server
from armgate.errors import BootError


def test_a_declared_port_is_taken_only_while_nothing_listens_on_it() -> None:
    port = free_port()
    assert claim_port(port) == port
    with (
        socket.create_server(("127.0.0.1", port)),
        pytest.raises(BootError, match=f"port {port} is in use by"),
    ):
        claim_port(port)


def test_whose_the_listening_socket_is() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert listener_of(port, os.getpid(), same_user=True) is Listener.OURS
        assert listener_of(port, 1, same_user=True) in (Listener.FOREIGN, Listener.OURS)
    assert listener_of(port, os.getpid(), same_user=True) is Listener.NOBODY


def test_noise_is_no_progress_and_a_line_of_the_log_is() -> None:
    watch = StallWatch(0.0)
    watch.observe(10.0, {"read": STEP_BYTES - 1})
    assert watch.still_s(10.0) == 10.0
    watch.observe(20.0, {"read": STEP_BYTES})
    assert watch.still_s(20.0) == 0.0
    watch.observe(30.0, {"read": STEP_BYTES, LOG: 1})
    assert watch.still_s(35.0) == 5.0


def test_what_a_process_reads_and_holds_is_counted() -> None:
    own = growth(os.getpid(), with_root=True)
    assert own["resident"] > 0
    assert growth(2**22 + 1, with_root=True) == {}


@pytest.mark.anyio
async def test_a_server_is_killed_below_the_floor_and_says_why(tmp_path: Path) -> None:
    readings = iter([9, 7, 5])
    killed = asyncio.Event()

    async def kill() -> None:
        killed.set()
        server.ended.set()

    server = Server(url="http://x", ended=asyncio.Event(), log=tmp_path / "log", kill=kill)
    async with memory_floor(server, 6, lambda: next(readings)):
        await asyncio.wait_for(killed.wait(), 10)
    assert server.death().cause == "host_memory_exhausted"


@pytest.mark.anyio
async def test_an_attached_server_is_never_killed() -> None:
    server = Server(url="http://x", ended=asyncio.Event())
    async with memory_floor(server, 2**60, lambda: 0):
        await asyncio.sleep(0)
    assert server.fault is None
