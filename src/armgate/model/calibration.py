"""The client's own error on one machine, as measured against a server of known timing."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from statistics import median
from typing import Literal

from armgate.model.base import Frozen

NOT_CALIBRATED = "client's own error: not calibrated on this machine (`armgate calibrate` measures it)"


BUSY_S = 0.005
"""A server of known timing that is later than this (99th percentile) shares its machine with other work."""


class Spread(Frozen):
    """Signed errors of `n` cases. 99 % of them lie no farther from zero than `p99`, none than `worst`."""

    n: int
    median: float
    p99: float
    worst: float

    @classmethod
    def of(cls, errors: Sequence[float]) -> Spread:
        ranked = sorted(errors, key=abs)
        return cls(
            n=len(ranked),
            median=median(ranked),
            p99=ranked[ceil(0.99 * len(ranked)) - 1],
            worst=ranked[-1],
        )


class LevelError(Frozen):
    """The error at one number of simultaneous streams. Every figure is the client's minus the truth."""

    streams: int
    deltas_per_s: float
    """Of all streams together, as scheduled."""
    exchanges: int
    stamp_delay_s: Spread
    """From the instant a delta was written to the instant it was stamped; over all deltas."""
    ttft_error_s: Spread
    rate_errors: dict[str, Spread]
    """By formula, relative: measured / true - 1, true by the same formula from the instants of writing."""
    hand_over_s: Spread
    """From the scheduled instant to the hand-over to the socket: making the connection, and queueing here."""
    server_lateness_s: Spread
    """How late the server wrote, against its own schedule. It is no part of the client's error."""
    cpu_s_per_delta: float


class HeldStep(Frozen):
    """One step on the way to the highest rate."""

    level: LevelError
    held: bool
    limited_by: Literal["client", "server"] | None = None


class Machine(Frozen):
    """Where and with what the calibration was made; nothing that names the host."""

    processor: str
    cores: int
    python: str
    aiohttp: str


class Calibration(Frozen):
    schema_version: Literal["armgate/calibration/v1"] = "armgate/calibration/v1"
    armgate_version: str
    created_utc: str
    machine: Machine
    levels: tuple[LevelError, ...]
    steps: tuple[HeldStep, ...] = ()

    @property
    def held_deltas_per_s(self) -> float | None:
        """The highest rate held; `None` where none was tried or none held."""
        held = [step.level.deltas_per_s for step in self.steps if step.held]
        return max(held, default=None)

    def words(self) -> str:
        """The figures in one line, for reports."""
        ttfts = ((level.streams, level.ttft_error_s) for level in self.levels)
        parts = [f"{n}: {1000 * ttft.median:+.1f} / {1000 * ttft.p99:+.1f} ms" for n, ttft in ttfts]
        rates = (
            spread for level in self.levels for name, spread in level.rate_errors.items() if name != "prefill"
        )
        worst = max((abs(spread.p99) for spread in rates), default=0.0)
        held = self.held_deltas_per_s
        tail = "" if held is None else f"; {held:.0f} deltas/s held"
        late_s = max((level.server_lateness_s.p99 for level in self.levels), default=0.0)
        if late_s > BUSY_S:
            tail += (
                f"; the machine was busy then (the server itself was {1000 * late_s:.0f} ms late): repeat it"
            )
        return (
            f"client's own error, calibrated {self.created_utc[:10]} on this machine with armgate "
            f"{self.armgate_version}: TTFT (median / 99th percentile) by streams {', '.join(parts)}; "
            f"rates of decoding within {100 * worst:.2f} %{tail}"
        )
