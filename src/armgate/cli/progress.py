"""What a run looks like while it goes: a live view on a terminal, plain lines elsewhere, or nothing."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from armgate.campaign.progress import Progress
from armgate.cli.output import ARM_COLOURS, SIGNS, inert
from armgate.model.outcome import Verdict
from armgate.model.plan import Plan, PlannedBoot, PlannedGate
from armgate.model.quality import QualityRecord

SILENCE_S = 30.0
"""A log gets a line at least this often, also while one long request runs."""

ARMS_SHOWN = 8
"""Columns of the live view; of more arms those around the current one are shown."""

LEGEND = "+ passed  x failed  - skipped  ? void  ! errored  ~ running  . to come"


class PlainLines(Progress):
    """One line per step, with seconds since the start; fit for a log file. Silence is broken by a line."""

    def __init__(self, console: Console, silence_s: float = SILENCE_S) -> None:
        self.console, self.silence_s = console, silence_s
        self.started_s = self.told_s = time.monotonic()
        self.arm, self.now, self.done, self.planned = "", "starting", 0, 0
        self._ended = threading.Event()

    def __enter__(self) -> PlainLines:
        threading.Thread(target=self._break_silence, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    def _break_silence(self) -> None:
        while not self._ended.wait(self.silence_s / 4):
            if time.monotonic() - self.told_s >= self.silence_s:
                self._line(f"{self.arm}: still at it: {self.now} ({self.done}/{self.planned} requests)")

    def _line(self, text: str) -> None:
        self.told_s = time.monotonic()
        seconds = self.told_s - self.started_s
        self.console.print(f"[{seconds:7.1f} s] {inert(text)}", markup=False, highlight=False, soft_wrap=True)

    def run_started(self, plan: Plan, folder: Path) -> None:
        counts = plan.counts
        self.planned = counts.requests
        self._line(
            f"plan {plan.digest()[:19]}: {counts.boots} boots, {counts.requests} requests, in {folder}"
        )

    def boot_started(self, boot: PlannedBoot) -> None:
        self.arm = boot.arm
        self._line(f"{boot.arm}: boot {boot.boot:02d}")

    def note(self, text: str) -> None:
        self.now = text

    def gate_started(self, planned: PlannedGate) -> None:
        self.now = planned.gate.id

    def request_started(self, planned: PlannedGate, name: str) -> None:
        self.now = f"{planned.gate.id} {name}"

    def request_done(self, planned: PlannedGate, tokens: int | None, wall_s: float | None) -> None:
        self.done += 1

    def boot_ready(self, seconds: float) -> None:
        self._line(f"{self.arm}: ready after {seconds:.1f} s")

    def gate_done(self, verdict: Verdict) -> None:
        because = f" because of {verdict.because_of}" if verdict.because_of else ""
        message = "" if verdict.because_of or not verdict.message else f": {verdict.message}"
        self._line(f"{self.arm}: {verdict.gate} {verdict.outcome}{because}{message}")

    def boot_ended(self, boot: PlannedBoot, message: str | None) -> None:
        self._line(f"{boot.arm}: stopped" + (f" ({message})" if message else ""))

    def arm_done(self, record: QualityRecord) -> None:
        self._line(f"{record.arm}: {record.arm_verdict}")


class LiveView(Progress):
    """Gates by arms with outcomes as they fall, what is running now, and for how long."""

    def __init__(self, console: Console) -> None:
        self.started_s = time.monotonic()
        self.plan: Plan | None = None
        self.cells: dict[tuple[str, str], Text] = {}
        self.verdicts: dict[str, Text] = {}
        self.arm, self.now, self.rate, self.done = "", "reading the campaign", "", 0
        self.live = Live(console=console, get_renderable=self._draw, refresh_per_second=4)

    def __enter__(self) -> LiveView:
        self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.live.stop()

    def run_started(self, plan: Plan, folder: Path) -> None:
        self.plan = plan

    def boot_started(self, boot: PlannedBoot) -> None:
        self.arm, self.now = boot.arm, "starting"

    def note(self, text: str) -> None:
        self.now = inert(text)

    def boot_ready(self, seconds: float) -> None:
        self.now = f"ready after {seconds:.1f} s"

    def gate_started(self, planned: PlannedGate) -> None:
        self.now = planned.gate.id
        self.cells[self.arm, planned.gate.id] = Text("~")

    def request_started(self, planned: PlannedGate, name: str) -> None:
        self.now = f"{planned.gate.id} {name}"

    def request_done(self, planned: PlannedGate, tokens: int | None, wall_s: float | None) -> None:
        self.done += 1
        if tokens and wall_s:
            self.rate = f"{tokens / wall_s:.1f} tok/s ({tokens} tokens in {wall_s:.1f} s)"

    def gate_done(self, verdict: Verdict) -> None:
        sign, colour = SIGNS[verdict.outcome]
        self.cells[self.arm, verdict.gate] = Text(sign, style=colour)

    def boot_ended(self, boot: PlannedBoot, message: str | None) -> None:
        self.now = "stopped" + (f": {inert(message)}" if message else "")

    def arm_done(self, record: QualityRecord) -> None:
        self.verdicts[record.arm] = Text(record.arm_verdict.value, style=ARM_COLOURS[record.arm_verdict])

    def _draw(self) -> Group:
        if self.plan is None:
            return Group(Text(self.now))
        return Group(self._matrix(self.plan), Text(LEGEND, "dim"), self._status(self.plan))

    def _matrix(self, plan: Plan) -> Table:
        table = Table(box=None, padding=(0, 1, 0, 0))
        table.add_column(plan.campaign, no_wrap=True)
        arms = self._arms_shown(plan)
        for arm in arms:
            table.add_column(f">{arm}" if arm == self.arm else arm, justify="center", no_wrap=True)
        for gate in plan.gate_ids:
            table.add_row(gate, *(self.cells.get((arm, gate), Text(".", "dim")) for arm in arms))
        table.add_row("", *(self.verdicts.get(arm, Text("")) for arm in arms))
        return table

    def _arms_shown(self, plan: Plan) -> list[str]:
        arms = list(plan.arms)
        at = arms.index(self.arm) if self.arm in arms else 0
        start = max(0, min(at - ARMS_SHOWN + 2, len(arms) - ARMS_SHOWN))
        return arms[start : start + ARMS_SHOWN]

    def _status(self, plan: Plan) -> Text:
        seconds = time.monotonic() - self.started_s
        sent = f"{self.done}/{plan.counts.requests} requests"
        arms = f"{len(self.verdicts)}/{len(plan.arms)} arms done"
        text = f"{seconds:.0f} s{expected(seconds, self.done, plan.counts.requests)}  {sent}  {arms}"
        lines = [text, f"{self.arm}: {self.now}", self.rate]
        return Text("\n".join(line for line in lines if line), overflow="ellipsis", no_wrap=True)


def expected(elapsed_s: float, done: int, planned: int) -> str:
    """The whole run's time if the rest goes as the requests so far; nothing before there is a base for it."""
    if done < max(5, planned // 20):
        return ""
    return f" of about {elapsed_s / done * planned:.0f} s"
