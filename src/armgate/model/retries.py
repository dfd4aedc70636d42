"""Attempts beyond the first: when one is made, and which of them a verdict rests on."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Literal

from pydantic import Field

from armgate.model.base import Frozen
from armgate.model.exchange import Exchange, Fate


class Retries(Frozen):
    """A gate's leave to ask again where no answer came. Every attempt is on file, and counted in the verdict.

    An answer is never asked for again, whatever it says; nor is a request that the server refused for what
    it is (400, 404, 422).
    """

    attempts: Annotated[int, Field(ge=2, le=10)]
    wait_s: Annotated[float, Field(ge=0)] = 1.0
    """Before the second attempt; twice as long before each further one."""
    counts: Literal["first", "last"] = "first"
    """The attempt that is judged."""

    def waits_s(self) -> tuple[float, ...]:
        """Seconds before each attempt after the first."""
        return tuple(self.wait_s * 2**number for number in range(self.attempts - 1))


class Attempt(Frozen):
    """One attempt at a request, as it ended."""

    path: str
    status: int | None
    fate: Fate

    @property
    def answered(self) -> bool:
        return self.fate is Fate.COMPLETE and self.status == HTTPStatus.OK


def may_be_repeated(exchange: Exchange) -> bool:
    """Whether no answer came for a reason that lies with the server or the way to it."""
    if exchange.fate in (Fate.REFUSED, Fate.DROPPED):
        return True
    status = exchange.status or 0
    return status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR
