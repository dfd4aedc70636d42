"""The plan: every input of a run, resolved, rendered and digested before the first boot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from armgate.model.arms import Arm, Metric
from armgate.model.base import Digest, Frozen, Json, Name, digest_json
from armgate.model.calibration import Calibration
from armgate.model.contract import Contract
from armgate.model.gates import IDENTITY, Gate
from armgate.model.outcome import Family
from armgate.model.pins import Pins
from armgate.model.task import LoadedTask

METRICS = get_args(Metric)
LOWER_IS_BETTER = frozenset({"ttft"})


class PlannedBoot(Frozen):
    arm: Name
    boot: int
    purpose: Literal["first", "replicate"]


class PlannedProbe(Frozen):
    """One probe as it will be sent. `messages` is `None` where the text depends on the server's tokenizer."""

    id: Name
    samples: int
    warm_up: int
    messages: tuple[dict[str, Json], ...] | None
    digest: Digest
    """Of the messages, or of the recipe that they will be made from."""


class PlannedGate(Frozen):
    gate: Gate
    family: Family
    compares: bool
    """Whether its samples are compared with the reference arm's, or with a repeat of an arm's own."""
    probes: tuple[PlannedProbe, ...]
    repeat_of: Name | None = None
    """The gate that this one repeats at the end of the boot, to see drift."""

    def reference_of(self, arm: Arm) -> str:
        """The arm that this gate compares `arm` with: the gate's own, else the arm's."""
        return self.gate.reference or arm.reference

    @property
    def samples(self) -> int:
        return sum(probe.samples for probe in self.probes)


class Counts(Frozen):
    arms: int
    boots: int
    gates: int
    """Gates of one boot, the implicit identity gate included."""
    verdicts: int
    """gates x boots: what the five outcomes must add up to."""
    requests: int
    """Judged requests and warm-ups over all boots."""


def count(arms: dict[str, Arm], boots: Sequence[PlannedBoot], gates: Sequence[PlannedGate]) -> Counts:
    """What a plan comes to. An arm that is its own reference sends the samples of a comparison twice."""
    requests = 0
    for boot in boots:
        for planned in gates:
            repeats = planned.compares and planned.reference_of(arms[boot.arm]) == boot.arm
            requests += planned.samples * (2 if repeats else 1)
            requests += sum(probe.warm_up for probe in planned.probes)
    return Counts(
        arms=len(arms),
        boots=len(boots),
        gates=len(gates) + 1,
        verdicts=(len(gates) + 1) * len(boots),
        requests=requests,
    )


class Plan(Frozen):
    """All that decides a run. `armgate judge` needs nothing else but the recorded evidence."""

    armgate_version: str
    campaign: Name
    says: str | None
    reference: Name
    metric: Metric = "decode_wall"
    require_verified: bool
    deadline_s: float | None
    inputs: dict[str, Digest]
    """Every file that was read, by its path in the workspace."""
    pins: Pins
    arms: dict[Name, Arm]
    boots: tuple[PlannedBoot, ...]
    """In the order of execution: references before those judged against them."""
    gates: tuple[PlannedGate, ...]
    contracts: dict[Name, Contract]
    tasks: dict[Name, LoadedTask]
    counts: Counts

    def gate(self, gate_id: str) -> PlannedGate:
        return next(planned for planned in self.gates if planned.gate.id == gate_id)

    @property
    def gate_ids(self) -> tuple[str, ...]:
        return (IDENTITY, *(planned.gate.id for planned in self.gates))

    def digest(self) -> str:
        return digest_json(self.model_dump(mode="json", by_alias=True))


class PlanFile(Frozen):
    """`plan.json`."""

    schema_version: Literal["armgate/plan/v1"] = "armgate/plan/v1"
    digest: Digest
    created_utc: str
    campaign_file: str
    """Path of the campaign in its workspace."""
    calibration: Calibration | None = None
    """The client's own error on the machine of the run; `None` where it was never measured."""
    plan: Plan
