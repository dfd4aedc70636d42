"""The HTTP client that probes are sent with: no retry, no redirect, no proxy, no cookie, no compression."""

from __future__ import annotations

import ssl
import time
from contextvars import ContextVar
from http.cookiejar import DefaultCookiePolicy
from pathlib import Path
from types import SimpleNamespace

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

from armgate import __version__

DEADLINE_S = 60.0
"""Of small requests that nobody times; probes bring their own deadlines."""


class HandOver:
    """When a request's body was handed to the socket, on `time.monotonic`; `None` until then."""

    def __init__(self) -> None:
        self.at: float | None = None


HAND_OVER: ContextVar[HandOver | None] = ContextVar("HAND_OVER", default=None)
"""Where the transport notes the hand-over of the request that the current task sends."""


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
        connector=aiohttp.TCPConnector(ssl=context, limit=0, force_close=True),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None),
        trace_configs=[trace],
    )


async def _note_hand_over(
    session: aiohttp.ClientSession, context: SimpleNamespace, params: aiohttp.TraceRequestChunkSentParams
) -> None:
    """aiohttp calls this with the body in hand, right before it writes to the connected socket."""
    noted = HAND_OVER.get()
    if noted is not None:
        noted.at = time.monotonic()
