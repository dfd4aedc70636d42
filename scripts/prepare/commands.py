"""The commands behind the scripts, and the one place where a refusal becomes words and an exit code."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from types import FrameType

from prepare import machine
from prepare.allocator import allocator_step
from prepare.armgate import armgate_step, dev_step
from prepare.axe import axe_step
from prepare.checks import run_checks, run_tests
from prepare.engine import engine_step
from prepare.model import model_step
from prepare.places import Places, checkout
from prepare.quickstart import run_quickstart
from prepare.refusal import Refusal
from prepare.step import Step, carry_out

REQUIRE_ENGINE = "ARMGATE_REQUIRE_ENGINE"
ENGINE_MEMORY_BYTES = 5 * machine.GB


def main(argv: Sequence[str]) -> int:
    """`demo`, `test` or `check`, then its arguments. 4: the machine cannot do it; 130: interrupted."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    commands = {"demo": demo, "test": test, "check": check}
    try:
        return commands[argv[0]](checkout(), list(argv[1:]))
    except Refusal as refusal:
        print(f"cannot go on: {refusal}", file=sys.stderr)
        return 4
    except KeyboardInterrupt:
        print("\ninterrupted; whatever was half made is made anew by the next run", file=sys.stderr)
        return 130


def demo(places: Places, arguments: list[str]) -> int:
    prepare(places, [armgate_step(places), *engine_steps(places)])
    if "--prepare" in arguments:
        return 0
    machine.refuse_little_memory(machine.available_memory(), ENGINE_MEMORY_BYTES)
    return run_quickstart(places, arguments)


def test(places: Places, arguments: list[str]) -> int:
    """All checks and the suite, so that one failure hides no other; nonzero if any failed."""
    prepare(places, [dev_step(places), axe_step(places)])
    missing = _without_engine(places, arguments)
    failed = run_checks(places)
    code = run_tests(places, [word for word in arguments if word != "--no-engine"], missing)
    if failed:
        print(f"\nfailed before the tests: {', '.join(failed)}")
    return code or (1 if failed else 0)


def check(places: Places, _arguments: list[str]) -> int:
    prepare(places, [dev_step(places)])
    failed = run_checks(places)
    print(f"\nfailed: {', '.join(failed)}" if failed else "\nall checks passed")
    return 1 if failed else 0


def engine_steps(places: Places) -> list[Step]:
    return [allocator_step(places), engine_step(places), model_step(places)]


def prepare(places: Places, steps: Sequence[Step]) -> None:
    with _alone(places):
        carry_out(steps, lambda line: print(line, flush=True))


def _without_engine(places: Places, arguments: Sequence[str]) -> str | None:
    """Prepare the engine for its tests; why that was not done, if it was not."""
    if "--no-engine" in arguments:
        return "scripts/test --no-engine"
    try:
        prepare(places, engine_steps(places))
    except Refusal as refusal:
        if os.environ.get(REQUIRE_ENGINE) == "1":
            raise
        print(f"the engine cannot be had, its tests are skipped: {refusal}", flush=True)
        return refusal.what.splitlines()[0]
    return None


@contextlib.contextmanager
def _alone(places: Places) -> Iterator[None]:
    """One preparation at a time in a checkout; a second one waits for the first."""
    places.made.mkdir(exist_ok=True)
    with (places.made / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("another preparation is at work in this checkout; waiting for it", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
