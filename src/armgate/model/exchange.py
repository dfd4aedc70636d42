"""An exchange: one request and all that came back, byte for byte, with the connection's fate."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from armgate.model.base import Frozen, Json


class Fate(StrEnum):
    """How the connection ended, as the client saw it."""

    COMPLETE = "complete"
    DROPPED = "dropped"
    """The peer closed or reset before the body's declared end."""
    TIMEOUT = "timeout"
    """A declared deadline of ours passed."""
    REFUSED = "refused"
    """No connection, so no answer at all."""
    CUT = "cut"
    """We stopped reading: a declared size limit, an interruption, or the recorder died."""


class Frame(NamedTuple):
    """One read of the body. `at_s` counts from the instant the request was handed to the socket."""

    at_s: float
    data: bytes


class Mask(Frozen):
    """A known secret in the received body that was replaced by as many mask bytes before writing."""

    offset: int
    length: int
    kind: str


class Clock(Frozen):
    """Instants of one exchange in seconds on a monotonic clock, relative to `sent_s` = 0.

    `scheduled_s` is zero or negative: how long before the hand-over the request was due. `headers_s`
    is when the response's head had arrived, `end_s` when the connection's fate was known.
    """

    scheduled_s: float = 0.0
    headers_s: float | None = None
    end_s: float | None = None


class Exchange(Frozen):
    """One recorded exchange. `frames` is the body in arrival order; a non-streamed body is frames too.

    `timed` is false where the body came without arrival times (a file written by hand with `body`).
    """

    request: dict[str, Json]
    status: int | None
    headers: dict[str, str]
    frames: tuple[Frame, ...]
    fate: Fate
    timed: bool = True
    clock: Clock = Clock()
    error: str | None = None
    masks: tuple[Mask, ...] = ()
    endpoint: str = "/v1/chat/completions"

    @property
    def body(self) -> bytes:
        return b"".join(frame.data for frame in self.frames)
