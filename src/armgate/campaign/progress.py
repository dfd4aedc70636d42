"""What a run tells whoever watches it. Here nobody does; the command line overrides what it draws."""

from __future__ import annotations

from pathlib import Path

from armgate.model.outcome import Verdict
from armgate.model.plan import Plan, PlannedBoot, PlannedGate
from armgate.model.quality import QualityRecord


class Progress:
    """Every method may be overridden; none may fail."""

    def run_started(self, plan: Plan, folder: Path) -> None:
        """The plan is on disk; nothing has been started yet."""

    def boot_started(self, boot: PlannedBoot) -> None:
        """Pins are being checked and the engine's program is about to start."""

    def note(self, text: str) -> None:
        """A line of the engine's log or a word about a wait: never a stall without a word."""

    def boot_ready(self, seconds: float) -> None:
        """The engine gave its first real token."""

    def gate_started(self, planned: PlannedGate) -> None:
        """The gate's first request is about to be sent."""

    def request_started(self, planned: PlannedGate, name: str) -> None:
        """A request is about to be sent; `name` is that of its exchange: probe, number, role."""

    def request_done(self, planned: PlannedGate, tokens: int | None, wall_s: float | None) -> None:
        """One exchange is on disk."""

    def gate_done(self, verdict: Verdict) -> None:
        """A verdict is on disk, a skip included."""

    def boot_ended(self, boot: PlannedBoot, message: str | None) -> None:
        """The engine is gone; `message` says why if not because the ladder was done."""

    def arm_done(self, record: QualityRecord) -> None:
        """The arm's quality record is on disk."""
