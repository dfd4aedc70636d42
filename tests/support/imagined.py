"""Sandboxes that answer from a script: what an executor makes of hosts and sandboxes that fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from armgate.execution.executor import SandboxExecutor
from armgate.execution.sandbox import Observed
from armgate.execution.wire import CaseRequest, Ending
from armgate.model.execution import Ended, Limits, Tier
from armgate.model.plain import encode

TIER = Tier(name="imagined")
Script = Callable[[CaseRequest], Observed]


def ended(how: Ended = Ended.EXITED, **changes: object) -> Ending:
    fields: dict[str, object] = {
        "ended": how,
        "exit_code": 0 if how is Ended.EXITED else None,
        "signal": None if how is Ended.EXITED else 9,
        "clean": True,
        "cpu_s": 0.01,
        "wall_s": 0.02,
        "waited_s": 0.0,
        "oom_kills": 0,
        "peak_kb": 9000,
        "call": None,
    }
    return Ending(**(fields | changes))  # type: ignore[arg-type]


def value(request: CaseRequest, what: object) -> Observed:
    return Observed(ended(), result=f"V{encode(what)}.{request.seal}".encode())


def doubled(request: CaseRequest) -> Observed:
    assert request.arguments is not None
    return value(request, request.arguments[0] * 2)


class Imagined:
    """A sandbox that answers from a script."""

    def __init__(self, script: Script) -> None:
        self.script, self.usable, self.closed, self.ran = script, True, False, 0
        self.facts: dict[str, object] = {}

    def run(self, request: CaseRequest) -> Observed:
        self.ran += 1
        observed = self.script(request)
        self.usable = observed.ending is not None and observed.ending.clean
        return observed

    def close(self) -> None:
        self.closed, self.usable = True, False


class Backend:
    name = "imagined"

    def __init__(self, script: Script) -> None:
        self.script = script
        self.started: list[Imagined] = []
        self.closed = False

    def start(self, _: Limits) -> Imagined:
        self.started.append(Imagined(self.script))
        return self.started[-1]

    def close(self) -> None:
        self.closed = True


def executor(script: Script, factor: float = 1.0) -> tuple[SandboxExecutor, Backend]:
    backend = Backend(script)
    return SandboxExecutor(backend, TIER, factor, workers=2), backend  # type: ignore[arg-type]


def one_after_another(*scripts: Script) -> Script:
    waiting: Iterator[Script] = iter(scripts)

    def run(request: CaseRequest) -> Observed:
        return next(waiting)(request)

    return run
