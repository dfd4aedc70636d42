"""Servers that drip an answer for ever or send without an end: every small request gives up on them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import httpx
import pytest

from armgate.client import scrape as scraping
from armgate.client import tokens
from armgate.client.transport import open_client
from armgate.engines import prefix_cache, readiness
from armgate.engines.server import Server
from armgate.errors import BootError
from armgate.model.arms import Deadlines
from armgate.small_answers import Answer, NoWholeAnswer, whole_answer
from support.stand_in import StandInEngine

LIMIT_S = 20.0
"""Far beyond every deadline below: what is reached here hangs."""


@contextlib.asynccontextmanager
async def dripping() -> AsyncIterator[str]:
    """The address of a server that answers everything at once with 200, and then with a line now and then."""

    open_answers: set[asyncio.Task[None] | None] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_answers.add(asyncio.current_task())
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
            while not writer.is_closing():
                writer.write(b"# x\n")
                await writer.drain()
                await asyncio.sleep(0.05)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        # A client that has gone ends its answer.
        await asyncio.gather(*(task for task in open_answers if task is not None))


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (scraping, tokens, prefix_cache):
        monkeypatch.setattr(module, "DEADLINE_S", 0.3)
    monkeypatch.setattr(readiness, "PATIENCE_S", 0.3)


@pytest.mark.anyio
@pytest.mark.usefixtures("impatient")
async def test_a_dripping_answer_is_no_answer_to_any_small_request() -> None:
    async with dripping() as url, open_client() as http, asyncio.timeout(LIMIT_S):
        page = await scraping.scrape(http, f"{url}/metrics")
        assert (page.status, page.error) == (None, "NoWholeAnswer: no whole answer within 0.3 s")
        fault = await prefix_cache.reset_prefix_cache(http, url, "/reset")
        assert fault == "/reset: NoWholeAnswer: no whole answer within 0.3 s"
        with pytest.raises(tokens.CountUnavailable, match="no whole answer"):
            await tokens.Tokenizing(http, url, "m").post("/tokenize", {})


@pytest.mark.anyio
@pytest.mark.usefixtures("impatient")
async def test_a_server_that_drips_is_late_and_not_waited_for() -> None:
    async with dripping() as url, asyncio.timeout(LIMIT_S):
        server = Server(url=url, ended=asyncio.Event())
        with pytest.raises(BootError) as caught:
            await readiness.wait_until_listening(
                server, StandInEngine(), "m", Deadlines(ready_s=0.5), lambda _: None
            )
    assert caught.value.cause == "ready_deadline"


@pytest.mark.anyio
async def test_an_answer_is_read_up_to_its_largest_size() -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=b"[1, 2]"))
    async with httpx.AsyncClient(transport=transport) as http:
        answer = await whole_answer(http.stream("GET", "http://here"), 10.0, largest_bytes=6)
        assert answer == Answer(200, b"[1, 2]")
        assert answer.json() == [1, 2]
        with pytest.raises(NoWholeAnswer, match="more than 5 bytes"):
            await whole_answer(http.stream("GET", "http://here"), 10.0, largest_bytes=5)


@pytest.mark.anyio
async def test_an_answer_without_an_end_is_cut_off() -> None:
    async with dripping() as url, open_client() as http, asyncio.timeout(LIMIT_S):
        with pytest.raises(NoWholeAnswer, match="more than 10 bytes"):
            await whole_answer(http.stream("GET", url), 10.0, largest_bytes=10)
