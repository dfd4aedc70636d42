"""One step of the preparation: what it makes, what it needs, and whether that is there already."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable

from prepare import machine
from prepare.machine import Needs


@dataclasses.dataclass(frozen=True)
class Step:
    """`is_done` verifies and never trusts a name alone; `do` starts from nothing."""

    title: str
    usually: str
    needs: Needs
    is_done: Callable[[], bool]
    do: Callable[[], None]


def carry_out(steps: Iterable[Step], say: Callable[[str], None]) -> None:
    """Skip what is there and verified; ask the machine about the rest before any of it starts."""
    due: list[Step] = []
    for step in steps:
        if step.is_done():
            say(f"[there, verified] {step.title}")
        else:
            due.append(step)
    machine.refuse_what_cannot_work([step.needs for step in due])
    for step in due:
        say(f"[now]  {step.title}; usually {step.usually}")
        started = time.monotonic()
        step.do()
        say(f"[done] {step.title} ({time.monotonic() - started:.0f} s)")
