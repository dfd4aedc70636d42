"""The HTTP client that probes are sent with: no retry, no redirect, no proxy, no cookie, no compression."""

from __future__ import annotations

import socket
import ssl
import time
from contextvars import ContextVar
from http.cookiejar import DefaultCookiePolicy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import aiohttp
import httpx
from aiohttp.connector import AddrInfoType
from httpx_aiohttp import AiohttpTransport

from armgate import __version__

DEADLINE_S = 60.0
"""Of small requests that nobody times; probes bring their own deadlines."""


class SocketTimes:
    """Instants of one request at its socket, on `time.monotonic`; `None` until they have come.

    `handed_over` is when the request's body was about to be written. `read` is when the latest bytes came
    out of the socket: before TLS, before HTTP is parsed, and before the reading task has its turn, which
    with many streams on one event loop is what costs most.
    """

    def __init__(self) -> None:
        self.handed_over: float | None = None
        self.read: float | None = None


SOCKET_TIMES: ContextVar[SocketTimes | None] = ContextVar("SOCKET_TIMES", default=None)
"""Where the transport notes the instants of the request that the current task sends."""


class StampingSocket(socket.socket):
    """A socket that notes when bytes came out of it. asyncio's transports read with these two calls."""

    times: SocketTimes | None = None

    def recv(self, bufsize: int, flags: int = 0, /) -> bytes:
        data = super().recv(bufsize, flags)
        if data and self.times is not None:
            self.times.read = time.monotonic()
        return data

    def recv_into(self, buffer: Any, nbytes: int = 0, flags: int = 0, /) -> int:
        size = super().recv_into(buffer, nbytes, flags)
        if size and self.times is not None:
            self.times.read = time.monotonic()
        return size


def open_client(api_key: str | None = None, ca_file: Path | None = None) -> httpx.AsyncClient:
    """A client over aiohttp's transport, to be used as an async context manager.

    Every request has a connection of its own, so that a server's closing of an idle one is no lost
    sample, and no request waits for another's connection. TLS is verified, against `ca_file` if given.
    """
    headers = {
        "Accept-Encoding": "identity",
        "Connection": "close",
        "User-Agent": f"armgate/{__version__}",
    }
    if api_key is not None:
        headers["Authorization"] = f"Bearer {api_key}"
    context = ssl.create_default_context(cafile=None if ca_file is None else str(ca_file))
    client = httpx.AsyncClient(
        transport=AiohttpTransport(verify=context, trust_env=False, client=lambda: _session(context)),
        headers=headers,
        trust_env=False,
        follow_redirects=False,
        timeout=DEADLINE_S,
    )
    client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=()))
    return client


def _session(context: ssl.SSLContext) -> aiohttp.ClientSession:
    trace = aiohttp.TraceConfig()
    trace.on_request_chunk_sent.append(_note_hand_over)
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(
            ssl=context, limit=0, force_close=True, socket_factory=_stamping_socket
        ),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None),
        trace_configs=[trace],
    )


async def _note_hand_over(
    session: aiohttp.ClientSession, context: SimpleNamespace, params: aiohttp.TraceRequestChunkSentParams
) -> None:
    """aiohttp calls this with the body in hand, right before it writes to the connected socket."""
    times = SOCKET_TIMES.get()
    if times is not None:
        times.handed_over = time.monotonic()


def _stamping_socket(address: AddrInfoType) -> socket.socket:
    """A socket for one request: connections are not shared, so its instants are that request's."""
    family, kind, protocol, _, _ = address
    made = StampingSocket(family, kind, protocol)
    made.times = SOCKET_TIMES.get()
    return made
