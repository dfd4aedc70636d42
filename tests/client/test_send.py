from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from armgate.client.recorder import recording_at
from armgate.client.secrets import Secrets
from armgate.client.send import send
from armgate.client.transport import open_client
from armgate.errors import RecordError
from armgate.model.arms import Deadlines
from armgate.model.exchange import Exchange, Fate
from armgate.model.exchange_form import parse_exchange
from armgate.model.reading import read_response
from armgate.model.soundness import void_of
from support.faulty_server import ECHO, faulty_server

pytestmark = pytest.mark.anyio

HASTE = Deadlines(first_byte_s=0.5, silence_s=0.4, request_s=1.5)
BODY = {"model": "m", "messages": [], "stream": True, "max_tokens": 5000}


class Probing:
    """A client and the faulty server's URL; `to(fault)` is one recorded exchange with it."""

    def __init__(self, http: httpx.AsyncClient, url: str, folder: Path) -> None:
        self.http, self.url, self.folder = http, url, folder

    async def to(self, fault: str, **options: Any) -> Exchange:
        stem = self.folder / fault
        exchange = await send(self.http, f"{self.url}/{fault}", BODY, stem, HASTE, **options)
        path = recording_at(stem.with_name(f"{fault}.jsonl"))
        assert path is not None
        assert parse_exchange(path.read_bytes(), path) == exchange
        return exchange


@pytest.fixture
async def probing(tmp_path: Path) -> AsyncIterator[Probing]:
    async with faulty_server() as url, open_client() as http:
        yield Probing(http, url, tmp_path)


@pytest.mark.parametrize(
    ("fault", "fate", "cause"),
    [
        ("good", Fate.COMPLETE, None),
        ("no_stream", Fate.COMPLETE, None),
        ("split_reads", Fate.COMPLETE, None),
        ("many_reads", Fate.COMPLETE, None),
        ("dropped", Fate.DROPPED, "connection_dropped"),
        ("silent_end", Fate.COMPLETE, "stream_truncated"),
        ("error_in_stream", Fate.COMPLETE, "server_error_in_stream"),
        ("error_then_silence", Fate.TIMEOUT, "server_error_in_stream"),
        ("silence", Fate.TIMEOUT, "timeout"),
        ("silence_in_stream", Fate.TIMEOUT, "timeout"),
        ("keep_alive_forever", Fate.TIMEOUT, "timeout"),
        ("http_500", Fate.COMPLETE, "server_error"),
        ("refused_parameter", Fate.COMPLETE, "request_unsupported_on_arm"),
        ("garbage", Fate.DROPPED, "connection_dropped"),
        ("garbage_body", Fate.COMPLETE, "unreadable_body"),
        ("redirect", Fate.COMPLETE, "redirected"),
        ("gzip_anyway", Fate.CUT, "recording_cut"),
    ],
)
async def test_whatever_a_server_does_is_a_fate_and_a_cause(
    probing: Probing, fault: str, fate: Fate, cause: str | None
) -> None:
    exchange = await probing.to(fault)
    void = void_of(exchange, read_response(exchange))
    assert (exchange.fate, void and void.cause) == (fate, cause)


async def test_characters_cut_by_reads_are_whole(probing: Probing) -> None:
    exchange = await probing.to("split_reads")
    assert len(exchange.frames) > 1
    assert read_response(exchange).content == "정답 703"


async def test_a_stream_that_never_closes_is_complete_soon_after_its_end_mark(probing: Probing) -> None:
    begun = time.monotonic()
    exchange = await probing.to("never_closes")
    assert time.monotonic() - begun < 4
    assert (exchange.fate, exchange.left_open, exchange.error) == (Fate.COMPLETE, True, None)
    response = read_response(exchange)
    assert "left_open_after_done" in response.flags
    assert response.timings.wall_s is not None
    assert response.timings.wall_s < 0.3, "the wait for the closing is not the server's time"


async def test_keep_alives_do_not_stretch_the_whole(probing: Probing) -> None:
    exchange = await probing.to("keep_alive_forever")
    assert exchange.error == "not finished within 1.5 s"
    assert exchange.clock.end_s == pytest.approx(1.5, abs=0.3)


async def test_which_silence_it_was_is_told(probing: Probing) -> None:
    assert (await probing.to("silence")).error == "no byte within 0.5 s"
    assert (await probing.to("silence_in_stream")).error == "silent for 0.4 s"


async def test_a_body_beyond_the_limit_is_cut(probing: Probing) -> None:
    exchange = await probing.to("huge", size_limit_bytes=1_000_000)
    assert exchange.fate is Fate.CUT
    assert 1_000_000 < len(exchange.body) < 1_100_000


async def test_a_port_where_nobody_listens_refuses(probing: Probing) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
        exchange = await send(probing.http, url, BODY, probing.folder / "none", HASTE)
    assert (exchange.fate, exchange.status, exchange.frames) == (Fate.REFUSED, None, ())
    assert exchange.error is not None


async def test_a_secret_that_comes_back_does_not_land(probing: Probing) -> None:
    exchange = await probing.to("echo", secrets=Secrets({"api_key": ECHO}))
    assert read_response(exchange).content == "your key is " + "*" * len(ECHO) + "again"
    assert len(exchange.masks) == 3
    assert len(exchange.frames) == 4
    data = (probing.folder / "echo.jsonl").read_bytes()
    assert ECHO[:8].encode() not in data
    assert b"set-cookie" not in data.lower()


async def test_a_compressed_body_is_not_kept(probing: Probing) -> None:
    exchange = await probing.to("gzip_anyway")
    assert exchange.frames == ()
    assert exchange.error is not None
    assert "gzip" in exchange.error


async def test_what_is_sent(probing: Probing, tmp_path: Path) -> None:
    async with open_client(api_key="sk-FAKE-abc123") as http:
        for name in ("first", "second"):
            exchange = await send(http, f"{probing.url}/request_back", BODY, tmp_path / name, HASTE)
            head, _, body = exchange.body.partition(b"\r\n\r\n")
            lines = {line.lower() for line in head.split(b"\r\n")}
            assert lines >= {
                b"accept-encoding: identity", b"connection: close", b"content-type: application/json",
                b"authorization: bearer sk-fake-abc123",
            }  # fmt: skip
            assert not any(line.startswith(b"cookie") for line in lines), "exchanges do not know each other"
            assert json.loads(body) == BODY == exchange.request
    first = (tmp_path / "first.jsonl").read_text().split("\n")[0]
    assert "sk-FAKE" not in first
    assert "uthorization" not in first


async def test_the_environments_proxy_is_not_asked(probing: Probing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    async with open_client() as http:
        exchange = await send(http, f"{probing.url}/good", BODY, probing.folder / "p", HASTE)
    assert exchange.status == 200


async def test_a_cancellation_finishes_the_file_and_goes_on(probing: Probing) -> None:
    stem = probing.folder / "cancelled"
    task = asyncio.create_task(
        send(probing.http, f"{probing.url}/silence_in_stream", BODY, stem, Deadlines())
    )
    await asyncio.sleep(0.25)
    assert b"70" in stem.with_name("cancelled.jsonl").read_bytes()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    exchange = parse_exchange(stem.with_name("cancelled.jsonl").read_bytes())
    assert (exchange.fate, exchange.error) == (Fate.CUT, "interrupted")
    assert read_response(exchange).content == "70"


async def test_the_request_is_on_disk_before_the_server_has_it(tmp_path: Path) -> None:
    seen: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        seen.append((tmp_path / "p.jsonl").read_bytes())
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server, open_client() as http:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        exchange = await send(http, url, BODY, tmp_path / "p", HASTE)
    assert exchange.fate is Fate.DROPPED
    assert json.loads(seen[0])["request"] == BODY


async def test_a_disk_that_refuses_is_our_fault(probing: Probing, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError):
        await send(probing.http, f"{probing.url}/good", BODY, tmp_path / "file" / "p", HASTE)


async def test_clocks(probing: Probing) -> None:
    due = time.monotonic() - 0.25
    exchange = await probing.to("good", scheduled_at=due)
    clock = exchange.clock
    assert clock.zero_s is not None
    assert clock.zero_s + clock.scheduled_s == pytest.approx(due, abs=1e-5)
    assert clock.lateness_s > 0.25
    assert clock.headers_s is not None
    assert clock.end_s is not None
    assert clock.scheduled_s < clock.begun_s < 0 < clock.headers_s <= exchange.frames[0].at_s <= clock.end_s
