"""An exchange: one request and all that came back, byte for byte, with the connection's fate."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, NamedTuple

from pydantic import SkipValidation

from armgate.model.base import Frozen, Json

CHAT = "/v1/chat/completions"
COMPLETIONS = "/v1/completions"


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
    """Instants of one exchange in seconds on a monotonic clock; zero is the hand-over to the socket.

    `scheduled_s` (zero or negative) is when the request was due and `begun_s` when we took it up; between
    `begun_s` and zero lies the making of the connection. `headers_s` is when the response's head had
    arrived, `end_s` when the connection's fate was known. `zero_s` is zero itself on the machine's
    monotonic clock, by which exchanges and telemetry of one uptime are put in order.
    """

    zero_s: float | None = None
    scheduled_s: float = 0.0
    begun_s: float = 0.0
    headers_s: float | None = None
    end_s: float | None = None

    @property
    def lateness_s(self) -> float:
        """How long after its scheduled instant the request reached the socket."""
        return -self.scheduled_s


class Exchange(Frozen):
    """One recorded exchange. `frames` is the body in arrival order; a non-streamed body is frames too.

    `timed` is false where the body came without arrival times (a file written by hand with `body`).
    `left_open` says that the server kept a finished stream open and that we closed it.
    """

    request: dict[str, Json]
    status: int | None
    headers: dict[str, str]
    frames: Annotated[tuple[Frame, ...], SkipValidation]
    fate: Fate
    timed: bool = True
    clock: Clock = Clock()
    error: str | None = None
    masks: tuple[Mask, ...] = ()
    endpoint: str = CHAT
    left_open: bool = False

    @property
    def body(self) -> bytes:
        return b"".join(frame.data for frame in self.frames)

    @property
    def cap_tokens(self) -> int | None:
        """The output cap that the request asks for, under either of its two names; the lower if both."""
        asked = (self.request.get(name) for name in ("max_tokens", "max_completion_tokens"))
        caps = [cap for cap in asked if type(cap) is int]
        return min(caps, default=None)
