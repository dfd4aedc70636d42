"""What a run looks like while it goes: a live view on a terminal, plain lines elsewhere, or nothing."""

from __future__ import annotations

import time
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from armgate.campaign.progress import Progress
from armgate.cli.output import SIGNS, inert
from armgate.model.gates import IDENTITY
from armgate.model.outcome import Verdict
from armgate.model.plan import Plan, PlannedBoot, PlannedGate
from armgate.model.quality import QualityRecord

NOTE_CHARS = 100


class PlainLines(Progress):
    """One line per step, with seconds since the start; fit for a log file."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.started_s = time.monotonic()
        self.arm = ""

    def _line(self, text: str) -> None:
        seconds = time.monotonic() - self.started_s
        self.console.print(f"[{seconds:7.1f} s] {inert(text)}", markup=False, highlight=False, soft_wrap=True)

    def run_started(self, plan: Plan, folder: Path) -> None:
        counts = plan.counts
        self._line(
            f"plan {plan.digest()[:19]}: {counts.boots} boots, {counts.requests} requests, in {folder}"
        )

    def boot_started(self, boot: PlannedBoot) -> None:
        self.arm = boot.arm
        self._line(f"{boot.arm}: boot {boot.boot:02d}")

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
    """Arms by gates with outcomes as they fall, what is running now, and for how long."""

    def __init__(self, console: Console) -> None:
        self.live = Live(console=console, get_renderable=self._draw, refresh_per_second=4, transient=False)
        self.started_s = time.monotonic()
        self.plan: Plan | None = None
        self.cells: dict[tuple[str, str], str] = {}
        self.verdicts: dict[str, str] = {}
        self.arm, self.now, self.rate, self.done, self.folder = "", "", "", 0, ""

    def __enter__(self) -> LiveView:
        self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.now = "done"
        self.live.stop()

    def run_started(self, plan: Plan, folder: Path) -> None:
        self.plan, self.folder = plan, str(folder)

    def boot_started(self, boot: PlannedBoot) -> None:
        self.arm, self.now = boot.arm, "starting"

    def note(self, text: str) -> None:
        self.now = inert(text)[:NOTE_CHARS]

    def boot_ready(self, seconds: float) -> None:
        self.now = f"ready after {seconds:.1f} s"

    def gate_started(self, planned: PlannedGate) -> None:
        self.now = planned.gate.id
        self.cells[self.arm, planned.gate.id] = "~"

    def request_done(self, planned: PlannedGate, tokens: int | None, wall_s: float | None) -> None:
        self.done += 1
        if tokens and wall_s:
            self.rate = f"{tokens} tokens in {wall_s:.1f} s"

    def gate_done(self, verdict: Verdict) -> None:
        sign, colour = SIGNS[verdict.outcome]
        self.cells[self.arm, verdict.gate] = f"{sign}:{colour}"

    def boot_ended(self, boot: PlannedBoot, message: str | None) -> None:
        self.now = "stopped" + (f": {inert(message)}" if message else "")

    def arm_done(self, record: QualityRecord) -> None:
        self.verdicts[record.arm] = record.arm_verdict.value

    def _draw(self) -> Group:
        if self.plan is None:
            return Group(Text("reading the campaign"))
        return Group(
            self._title(), *(self._row(arm) for arm in self.plan.arms), self._legend(), self._status()
        )

    def _title(self) -> Text:
        assert self.plan is not None
        return Text(
            f"{self.plan.campaign}: {len(self.plan.arms)} arms x {len(self.plan.gate_ids)} gates", "bold"
        )

    def _row(self, arm: str) -> Text:
        assert self.plan is not None
        width = max(len(name) for name in self.plan.arms)
        row = Text(f"{'>' if arm == self.arm else ' '} {arm:<{width}}  ")
        for gate in self.plan.gate_ids:
            sign, _, colour = self.cells.get((arm, gate), ".").partition(":")
            row.append(sign + " ", style=colour or None)
        row.append(" " + self.verdicts.get(arm, ""))
        return row

    def _legend(self) -> Text:
        assert self.plan is not None
        names = " ".join(gate for gate in self.plan.gate_ids if gate != IDENTITY)
        return Text(
            f"  + passed  x failed  - skipped  ? void  ! errored  ~ now   gates: {IDENTITY} {names}", "dim"
        )

    def _status(self) -> Text:
        assert self.plan is not None
        seconds = time.monotonic() - self.started_s
        total = self.plan.counts.requests
        text = f"{seconds:6.0f} s  {self.done}/{total} requests  {self.arm}: {self.now}  {self.rate}"
        return Text(text, overflow="ellipsis", no_wrap=True)
