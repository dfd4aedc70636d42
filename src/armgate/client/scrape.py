"""One page of a server's counters, as raw bytes: evidence first, read later."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import httpx

from armgate.small_answers import NoWholeAnswer, whole_answer

HttpClient: TypeAlias = httpx.AsyncClient
"""The client that probes are sent with, for callers that only pass it on."""

DEADLINE_S = 10.0


class Scrape(NamedTuple):
    """`status` and `body` of the answer, or the `error` where none came."""

    status: int | None
    body: bytes
    error: str | None


async def scrape(http: HttpClient, url: str) -> Scrape:
    """`GET url`. A server without metrics is a fact about it, not a failure."""
    try:
        answer = await whole_answer(http.stream("GET", url, timeout=DEADLINE_S), DEADLINE_S)
    except (httpx.HTTPError, NoWholeAnswer) as error:
        return Scrape(None, b"", f"{type(error).__name__}: {error}")
    return Scrape(answer.status, answer.body, None)
