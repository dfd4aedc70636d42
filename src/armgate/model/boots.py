"""What one boot was asked to be and was observed to be."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from armgate.model.base import Frozen, Json, Name
from armgate.model.pins import PinCheck
from armgate.model.plan import Purpose


class BootState(StrEnum):
    STARTING = "starting"
    READY = "ready"
    STOPPED = "stopped"
    """Stopped by us after its last gate."""
    FAILED = "failed"
    """Never became ready, or was refused before the start."""
    DIED = "died"
    """The engine ended by itself after it had been ready."""
    INTERRUPTED = "interrupted"
    """Cut off by a person, a signal, or the campaign's own deadline; resuming boots it again."""
    NOT_STARTED = "not_started"
    """Planned, and the run ended before its turn."""


class BootRecord(Frozen):
    """`boot.json`. Replaced atomically at the start, when ready, and at the end; seconds are monotonic."""

    schema_version: Literal["armgate/boot/v1"] = "armgate/boot/v1"
    arm: Name
    boot: int
    purpose: Purpose
    state: BootState
    engine: str
    launcher: str
    own_depth: dict[str, int] = {}
    """The arm's depth under the engine's own setting and in its own counting."""
    argv: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    """Allow-listed variables only."""
    pins: tuple[PinCheck, ...] = ()
    versions: dict[str, str] = {}
    requested: dict[str, Json] = {}
    """Settings as the campaign asked for them."""
    resolved: dict[str, Json] = {}
    """Settings as the server reports them; what it does not report is absent."""
    hardware: dict[str, Json] = {}
    weight_file_bytes: dict[str, int] = {}
    """By role: what the model's weight files weigh on disk. No figure of memory in use."""
    started_utc: str | None = None
    ready_s: float | None = None
    """From the start of the program to its first real token."""
    total_s: float | None = None
    exit_code: int | None = None
    cause: str | None = None
    message: str | None = None
    notes: tuple[str, ...] = ()
    """What the launcher had to say: what the start lacked, what attaching changes."""
    log_facts: dict[str, Json] = {}

    @property
    def unready_because(self) -> str:
        """The condition that skipped verdicts of a boot without a ready server name."""
        cut_off = self.state in (BootState.INTERRUPTED, BootState.NOT_STARTED)
        return self.cause if cut_off and self.cause is not None else "boot"

    @property
    def was_ready(self) -> bool:
        return self.ready_s is not None
