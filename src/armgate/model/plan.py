"""The plan: every input of a run, resolved, rendered and digested before the first boot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from armgate.model.arms import Arm, Metric
from armgate.model.base import Digest, Frozen, Json, Name, digest_json
from armgate.model.calibration import Calibration
from armgate.model.contract import Contract
from armgate.model.gates import IDENTITY, Gate
from armgate.model.outcome import Family
from armgate.model.pins import Pins
from armgate.model.references import Reference
from armgate.model.task import LoadedTask

METRICS = get_args(Metric)
LOWER_IS_BETTER = frozenset({"ttft"})


Purpose = Literal["first", "replicate", "teacher_forcing", "final"]


class PlannedBoot(Frozen):
    arm: Name
    boot: int
    purpose: Purpose

    @property
    def climbs(self) -> bool:
        """Whether the ladder is run in this boot; in a boot for teacher forcing answers are replayed."""
        return self.purpose != "teacher_forcing"


class Replay(Frozen):
    """What a boot for teacher forcing replays: one gate's answers in one boot of one arm."""

    gate: Name
    arm: Name
    boot: int


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
    """gates x boots, of a boot for teacher forcing the gates that it replays: what the five outcomes must
    add up to. A final boot is one of the boots, though its arm is not known yet."""
    requests: int
    """Judged requests, warm-ups and replays over all boots; of a final boot the most it may send."""


def replays_of(
    reference: str, arms: Mapping[str, Arm], boots: Sequence[PlannedBoot], gates: Sequence[PlannedGate]
) -> tuple[Replay, ...]:
    """What `reference`'s boot for teacher forcing replays: of each comparing gate the answers of every arm
    that asks for it, and the reference's own of its first boot, which are the control."""
    found = []
    for planned in gates:
        asking = [
            Replay(gate=planned.gate.id, arm=boot.arm, boot=boot.boot)
            for boot in boots
            if planned.compares and boot.climbs and boot.arm != reference
            if arms[boot.arm].boots.teacher_forcing and planned.reference_of(arms[boot.arm]) == reference
        ]
        found += [Replay(gate=planned.gate.id, arm=reference, boot=0), *asking] if asking else []
    return tuple(found)


def count(arms: Mapping[str, Arm], boots: Sequence[PlannedBoot], gates: Sequence[PlannedGate]) -> Counts:
    """What a plan comes to. A final boot counts, though its arm is not known yet."""
    samples = {planned.gate.id: planned.samples for planned in gates}
    slots = [_climb_requests(arms[boot.arm], gates) for boot in boots if boot.climbs]
    replayed = [replays_of(boot.arm, arms, boots, gates) for boot in boots if not boot.climbs]
    finals = [_climb_requests(arm, gates) for arm in arms.values() if arm.boots.final]
    climbs = [*slots, *([max(finals)] if finals else [])]
    return Counts(
        arms=len(arms),
        boots=len(climbs) + len(replayed),
        gates=len(gates) + 1,
        verdicts=(len(gates) + 1) * len(climbs) + sum(1 + len({r.gate for r in each}) for each in replayed),
        requests=sum(climbs) + sum(samples[one.gate] for each in replayed for one in each),
    )


def _climb_requests(arm: Arm, gates: Sequence[PlannedGate]) -> int:
    """An arm that is its own reference sends the samples of a comparison twice."""
    requests = 0
    for planned in gates:
        repeats = planned.compares and planned.reference_of(arm) == arm.name
        requests += planned.samples * (2 if repeats else 1)
        requests += sum(probe.warm_up for probe in planned.probes)
    return requests


class Plan(Frozen):
    """All that decides a run. `armgate judge` needs nothing else but the recorded evidence."""

    armgate_version: str
    campaign: Name
    says: str | None
    reference: Name
    metric: Metric = "decode_wall"
    require_verified: bool
    references: tuple[Reference, ...] = ()
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

    def gates_of(self, boot: PlannedBoot) -> tuple[PlannedGate, ...]:
        """The gates that have a verdict in `boot`, the implicit identity gate apart."""
        if boot.climbs:
            return self.gates
        replayed = {replay.gate for replay in self.replays(boot.arm)}
        return tuple(planned for planned in self.gates if planned.gate.id in replayed)

    def replays(self, reference: str) -> tuple[Replay, ...]:
        return replays_of(reference, self.arms, self.boots, self.gates)

    def final_boot(self, arm: str) -> PlannedBoot:
        """The one more boot of `arm`, should it be chosen."""
        return PlannedBoot(arm=arm, boot=sum(boot.arm == arm for boot in self.boots), purpose="final")

    @property
    def has_final_slot(self) -> bool:
        return any(arm.boots.final for arm in self.arms.values())

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
