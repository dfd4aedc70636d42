"""One running sandbox: a warm harness behind a channel, judging nothing, running one case at a time."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable

from armgate.errors import SandboxUnavailable
from armgate.execution.channels import Channel, ChannelClosed, ChannelSilent
from armgate.execution.harness import Harness
from armgate.execution.wire import (
    FRAME,
    HELLO,
    LARGEST_FRAME,
    RESULT,
    STDERR,
    STDOUT,
    CaseRequest,
    CaseStream,
    Ending,
)
from armgate.model.base import Json

START_S = 30.0
"""How long a fresh sandbox may take to greet."""

PATIENCE, GRACE_S = 4, 10.0
"""The harness ends a case itself, at the latest after four wall limits: a longer silence means it is gone."""


@dataclasses.dataclass(frozen=True)
class Observed:
    """What one case showed. Without an ending the sandbox was lost, and `lost` says how."""

    ending: Ending | None
    stdout: bytes = b""
    stderr: bytes = b""
    result: bytes = b""
    lost: str | None = None


class Sandbox:
    """`facts` is what the harness said of itself before any answer ran. Once not `usable`, close it."""

    def __init__(
        self,
        channel: Channel,
        harness: Harness,
        config: dict[str, Json],
        flags: int,
        processes: int = 0,
        on_close: Callable[[], None] | None = None,
        oom_kills: Callable[[], int] | None = None,
    ) -> None:
        self._channel, self._flags, self._processes = channel, flags, processes
        self._on_close, self._oom_kills = on_close, oom_kills or (lambda: 0)
        self.usable = True
        try:
            self.facts = self._greet(harness.order(config))
        except BaseException:
            self.close()
            raise

    def _greet(self, order: bytes) -> dict[str, Json]:
        deadline = time.monotonic() + START_S
        greeting = b""
        try:
            self._channel.send(order, deadline)
            while len(greeting) < FRAME.size or len(greeting) < _length(greeting):
                greeting += self._channel.receive(deadline)
        except ChannelClosed:
            why = self._channel.last_words() or "it said nothing"
            raise SandboxUnavailable(f"the harness ended before it greeted: {why}") from None
        except ChannelSilent:
            raise SandboxUnavailable(f"the harness said nothing within {START_S:g} s") from None
        kind, length = FRAME.unpack_from(greeting)
        if kind != HELLO or len(greeting) != FRAME.size + length:
            raise SandboxUnavailable("the harness greeted in an unknown form")
        return _facts(greeting[FRAME.size :])

    def run(self, request: CaseRequest) -> Observed:
        """Runs one case. Whatever goes wrong with the sandbox is in the result and makes it unusable."""
        kills = self._oom_kills()
        stream = CaseStream(request.output_bytes)
        deadline = time.monotonic() + PATIENCE * request.wall_s + GRACE_S
        lost = None
        try:
            self._channel.send(request.encoded(self._flags, self._processes), deadline)
            while not stream.over:
                stream.feed(self._channel.receive(deadline))
        except ChannelClosed:
            lost = "the channel closed before the case had ended"
        except ChannelSilent:
            lost = "the harness fell silent"
        lost = stream.lost or lost
        if lost is not None:
            self.usable = False
            return Observed(ending=None, lost=lost)
        ending = stream.ending
        assert ending is not None
        self.usable = ending.clean
        if ending.signal is not None:
            ending = dataclasses.replace(ending, oom_kills=max(ending.oom_kills, self._oom_kills() - kills))
        read = stream.channels
        return Observed(ending, bytes(read[STDOUT]), bytes(read[STDERR]), bytes(read[RESULT]))

    def close(self) -> None:
        self.usable = False
        self._channel.close()
        if self._on_close is not None:
            self._on_close()


def _length(greeting: bytes) -> int:
    kind, length = FRAME.unpack_from(greeting)
    if kind != HELLO or length > LARGEST_FRAME:
        raise SandboxUnavailable("the harness greeted in an unknown form")
    return int(FRAME.size + length)


def _facts(body: bytes) -> dict[str, Json]:
    try:
        facts = json.loads(body)
    except (ValueError, RecursionError):
        facts = None
    if not isinstance(facts, dict):
        raise SandboxUnavailable("the harness greeted in an unknown form")
    if "failed" in facts:
        raise SandboxUnavailable(f"the harness could not settle: {facts['failed']}")
    return facts
