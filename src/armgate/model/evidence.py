"""What a check sees of one gate of one boot: recorded facts only, read back from the run folder."""

from __future__ import annotations

from pydantic import Field

from armgate.model.arms import Arm
from armgate.model.base import Frozen, Json
from armgate.model.exchange import Exchange
from armgate.model.execution import ExecutionRecord
from armgate.model.gates import Gate, Probe
from armgate.model.memory import MemorySample
from armgate.model.outcome import Family
from armgate.model.response import Response, Void
from armgate.model.retries import Attempt
from armgate.model.teacher_forcing import ReplayedAnswer


class Sample(Frozen):
    """One judged exchange. `context` holds what was known when it was sent (cap, marker offsets, ...)."""

    id: str
    """`<probe>.<n>`. Of several attempts the first is judged, unless the gate says the last."""
    probe: Probe
    n: int
    path: str
    """Of the exchange file, relative to the boot's folder."""
    exchange: Exchange
    response: Response
    void: Void | None = None
    context: dict[str, Json] = Field(default_factory=dict)
    attempts: tuple[Attempt, ...] = ()
    """All that were made, in order, where the gate allows more than one."""
    batch: int | None = None
    """Requests of one number were sent together, or on one schedule."""
    cold: bool = False
    """The first request after the boot's readiness: judged like any other, and in no figure of speed."""
    compiled: str | None = None
    """The engine's line about a compilation while this request was under way."""
    execution: ExecutionRecord | None = None
    execution_path: str | None = None


class Counters(Frozen):
    """The server's counters at one instant: series name with labels -> value.

    A series is written as `name{label="value",...}` with its labels sorted; `available` is false where
    the server offers no metrics, and `reason` then says what it answered.
    """

    available: bool
    reason: str | None = None
    at_s: float | None = None
    series: dict[str, float] = Field(default_factory=dict)


class CounterReading(Frozen):
    """One reading during a gate; `after_probe` is set where it was taken between two probes, at rest."""

    counters: Counters
    after_probe: str | None = None


class Surroundings(Frozen):
    """What was read of the server and its host around and during a gate, besides the gate's own exchanges."""

    first: Counters | None = None
    """The boot's first counters: a server that was started anew since then voids what came after."""
    previous: Counters | None = None
    """The counters after the gate before; what was gained since then, nobody here sent."""
    during: tuple[CounterReading, ...] = ()
    log_lines: tuple[str, ...] = ()
    """What the server's log gained while the gate ran."""
    memory: tuple[MemorySample, ...] = ()
    """Readings from the boot's start to the gate's end."""
    memory_before: int = 0
    """How many of them are from before the gate."""

    @property
    def gate_memory(self) -> tuple[MemorySample, ...]:
        """Readings of the gate alone, one at each of its ends."""
        return self.memory[self.memory_before :]


class GateEvidence(Frozen):
    """All that a gate's verdict may rest on."""

    gate: Gate
    family: Family
    arm: Arm
    samples: tuple[Sample, ...]
    warm_ups: tuple[Sample, ...] = ()
    reference_arm: str | None = None
    reference_samples: tuple[Sample, ...] | None = None
    """The same gate's samples of the reference arm; `None` where it has no reference or none ran."""
    control_samples: tuple[Sample, ...] | None = None
    """The reference arm's repeat of its own samples: the noise floor of a comparison."""
    rebooted_samples: tuple[tuple[Sample, ...], ...] = ()
    """The reference arm's samples in its other boots, boot by boot: the floor from boot to boot."""
    replays: tuple[ReplayedAnswer, ...] | None = None
    """The samples' tokens replayed through the reference; `None` where that has not been done."""
    control_replays: tuple[ReplayedAnswer, ...] | None = None
    """The same of the reference's own samples; `None` where `samples` are those."""
    counters_before: Counters | None = None
    counters_after: Counters | None = None
    not_sent: dict[str, str] = Field(default_factory=dict)
    """Probes that were not sent, and the condition that kept them: `exceeds_context`, ..."""
    repeats: tuple[Sample, ...] = ()
    """The arm's own second answers, where it is its own reference."""
    surroundings: Surroundings = Surroundings()
    engine_died: str | None = None
    """What the launcher saw if the engine ended during this gate."""
    planned_samples: int
    """How many samples the plan asks for; fewer are here if the engine died or the run was interrupted."""
