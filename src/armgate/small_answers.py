"""Small answers of servers, whole within a deadline and a size; an HTTP client's timeout is for one read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, Protocol

from armgate.model.base import Json

LARGEST_BYTES = 64 * 1024 * 1024


class NoWholeAnswer(Exception):  # noqa: N818 - a state of the server, which callers treat like silence
    """The answer did not end in time or went on too long; the message says which."""


class Answer(NamedTuple):
    status: int
    body: bytes

    def json(self) -> Json:
        """The body read as JSON, or ValueError."""
        read: Json = json.loads(self.body)
        return read


class Streamed(Protocol):
    """What is used of an HTTP client's response."""

    status_code: int

    def aiter_bytes(self) -> AsyncIterator[bytes]: ...


async def whole_answer(
    request: AbstractAsyncContextManager[Streamed], deadline_s: float, largest_bytes: int = LARGEST_BYTES
) -> Answer:
    """The answer to a request that is sent as it is entered; NoWholeAnswer, or what the client raises."""
    try:
        async with asyncio.timeout(deadline_s), request as response:
            return Answer(response.status_code, await _read(response, largest_bytes))
    except TimeoutError:
        raise NoWholeAnswer(f"no whole answer within {deadline_s:g} s") from None


async def _read(response: Streamed, largest_bytes: int) -> bytes:
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > largest_bytes:
            raise NoWholeAnswer(f"an answer of more than {largest_bytes} bytes")
    return bytes(body)
