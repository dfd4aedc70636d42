"""All that a report may show of a run, read once from its folder: what tables and pages are made of."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from armgate.model.boots import BootRecord
from armgate.model.comparison import Comparison
from armgate.model.memory import MemorySample
from armgate.model.outcome import SampleVerdict, Verdict
from armgate.model.plan import PlanFile
from armgate.model.quality import QualityRecord


@dataclasses.dataclass(frozen=True)
class Reply:
    """What one recorded exchange says. `channels` holds text by channel name, as served."""

    path: str
    """Of the exchange, relative to the boot's folder."""
    status: int | None
    fate: str
    finish_reason: str | None
    channels: Mapping[str, str]
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    ttft_s: float | None = None
    wall_s: float | None = None
    masked: int = 0
    """Known secrets that were masked in the received bytes."""


@dataclasses.dataclass(frozen=True)
class BootFacts:
    """One boot's record, verdicts by gate, memory readings and replies by their path."""

    record: BootRecord
    verdicts: Mapping[str, Verdict]
    memory: tuple[MemorySample, ...] = ()
    replies: Mapping[str, Reply] = dataclasses.field(default_factory=dict)

    def reply_of(self, sample: SampleVerdict) -> Reply | None:
        return next((self.replies[path] for path in sample.evidence if path in self.replies), None)


@dataclasses.dataclass(frozen=True)
class RunFacts:
    """One run. `boots` is keyed by arm and boot number, in the order of execution."""

    name: str
    plan_file: PlanFile
    records: Mapping[str, QualityRecord]
    comparison: Comparison | None
    boots: Mapping[tuple[str, int], BootFacts]
    exit_code: int
    notices: tuple[str, ...] = ()
    """What a reader must know of this copy of the run before anything else."""

    def verdicts(self) -> Iterator[tuple[str, int, Verdict]]:
        """(arm, boot, verdict) of every planned gate, in the order of the plan."""
        for (arm, boot), facts in self.boots.items():
            for gate in self.plan_file.plan.gate_ids:
                if gate in facts.verdicts:
                    yield arm, boot, facts.verdicts[gate]
