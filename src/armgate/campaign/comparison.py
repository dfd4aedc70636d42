"""The comparison of a run's arms, from their quality records alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from armgate.analysis.choice import choose, settled
from armgate.analysis.comparison import compare_arms
from armgate.analysis.contrasts import contrast
from armgate.analysis.floors import noise_floors
from armgate.campaign.draft_depth import depth_advice
from armgate.campaign.standing import standing, standing_measurements
from armgate.engines.launchers.protocol import pin_roles
from armgate.model.base import Json
from armgate.model.comparison import (
    ArmFigures,
    Choice,
    Comparison,
    Figure,
    FinalBoot,
    LossFigures,
    Parted,
    PassFail,
)
from armgate.model.measures import Acceptance, Interval
from armgate.model.outcome import ArmVerdict, Outcome, arm_verdict, worst
from armgate.model.plan import LOWER_IS_BETTER, METRICS, Plan, PlannedGate
from armgate.model.quality import OutcomeCounts, QualityRecord
from armgate.reporting.run_folder import json_bytes, model_bytes

PLACES = frozenset({"dir", "file"})
"""Keys of a pin that say where something stands, not what it is."""
NAMES_OF_A_START = frozenset({"id", "root"})
"""Read-back settings that name the model or a folder of this machine."""
FINAL_STATES: Mapping[ArmVerdict, Literal["held", "did_not_hold"]] = {
    ArmVerdict.ACCEPTED: "held",
    ArmVerdict.REJECTED: "did_not_hold",
}
COMPARED_BOOTS = frozenset({"first", "replicate"})
"""Purposes of boots whose figures are compared. The final boot's would favour the arm that was chosen."""


def comparison(plan: Plan, records: Mapping[str, QualityRecord]) -> Comparison | None:
    """The comparison of the arms on record, or `None` while the reference has none."""
    if plan.reference not in records:
        return None
    figures = [arm_figures(plan, record) for record in records.values()]
    made = compare_arms(figures, plan.reference, plan.metric, plan.metric not in LOWER_IS_BETTER)
    extras = {"references": plan.references, "depths": depth_advice(plan, records)}
    made = made.model_copy(update=extras)
    if not plan.has_final_slot:
        return made
    before = choice_before_the_final_boot(plan, records)
    final = _final_boot(plan, records, before)
    base = _verdict_of(records[plan.reference], lambda purpose: purpose != "final")
    base_qualified = base is ArmVerdict.ACCEPTED and before.winner != plan.reference
    return made.model_copy(update={"choice": settled(before, final, base_qualified), "final": final})


def chosen(plan: Plan, records: Mapping[str, QualityRecord]) -> str | None:
    """The arm to boot once more: the winner, if it asks for a final boot."""
    if plan.reference not in records:
        return None
    winner = choice_before_the_final_boot(plan, records).winner
    return winner if winner is not None and plan.arms[winner].boots.final else None


def choice_before_the_final_boot(plan: Plan, records: Mapping[str, QualityRecord]) -> Choice:
    """As it was made, by the verdicts of every boot but the final one."""
    figures = [
        arm_figures(plan, record).model_copy(
            update={"arm_verdict": _verdict_of(record, lambda purpose: purpose != "final")}
        )
        for record in records.values()
    ]
    base = next(arm for arm in figures if arm.name == plan.reference)
    higher = plan.metric not in LOWER_IS_BETTER
    return choose(figures, base, plan.metric, noise_floors(base), contrast, higher)


def _verdict_of(record: QualityRecord, counted: Callable[[str], bool]) -> ArmVerdict:
    """The arm's verdict over the boots whose purpose counts."""
    boots = {boot: facts for boot, facts in record.boots.items() if counted(facts["purpose"])}
    ready = any(facts["ready_s"] is not None for facts in boots.values())
    required = [
        worst(gate.verdicts[boot].outcome for boot in boots if boot in gate.verdicts)
        for gate in record.gates
        if gate.required and boots.keys() & gate.verdicts.keys()
    ]
    return arm_verdict(required, ready)[0]


def _final_boot(plan: Plan, records: Mapping[str, QualityRecord], before: Choice) -> FinalBoot:
    for record in records.values():
        for boot, facts in record.boots.items():
            if facts["purpose"] == "final":
                verdict = _verdict_of(record, lambda purpose: purpose == "final")
                tally = Counter(g.verdicts[boot].outcome.value for g in record.gates if boot in g.verdicts)
                return FinalBoot(
                    state=FINAL_STATES.get(verdict, "inconclusive"),
                    arm=record.arm,
                    boot=int(boot),
                    arm_verdict=verdict,
                    counts=OutcomeCounts(planned=tally.total(), **tally),
                )
    asked = before.winner is not None and plan.arms[before.winner].boots.final
    skipped = len(plan.gate_ids)
    return FinalBoot(
        state="not_booted",
        arm=before.winner if asked else None,
        because_of="run_ended" if asked else "not_asked" if before.winner else "no_winner",
        counts=OutcomeCounts(planned=skipped, skipped=skipped),
    )


def comparison_bytes(plan: Plan, made: Comparison | None) -> bytes:
    if made is None:
        return json_bytes(
            {"schema_version": "armgate/comparison/v1", "reference": plan.reference, "arms": []}
        )
    return model_bytes(made)


def arm_figures(plan: Plan, record: QualityRecord) -> ArmFigures:
    """One arm's record as the comparison sees it."""
    arm = plan.arms[record.arm]
    boots = [boot for boot, facts in record.boots.items() if facts["purpose"] in COMPARED_BOOTS]
    return ArmFigures(
        name=record.arm,
        arm=arm,
        arm_verdict=record.arm_verdict,
        reasons=record.reasons,
        reference=arm.reference,
        pins={role: _identity(plan, name) for role, name in pin_roles(arm)},
        observed=_observed(record),
        figures=tuple(figure for planned in plan.gates for figure in _speeds(planned, record, boots)),
        passes=tuple(one for planned in plan.gates for one in _passes(planned, record, boots)),
        losses=tuple(one for planned in plan.gates for one in _losses(planned, record, boots)),
        acceptance=_acceptance(plan, record),
    )


def _identity(plan: Plan, pin: str) -> dict[str, Json]:
    declared = plan.pins[pin].model_dump(mode="json", exclude_none=True)
    return {key: value for key, value in declared.items() if key not in PLACES}


def _observed(record: QualityRecord) -> dict[str, Json]:
    """What the first boot turned out to be. The fingerprint hashes the draft's settings too, so it tells
    every two arms apart and says nothing that the fields do not."""
    identity = record.identity
    facts = {
        "versions": {key: v for key, v in identity.versions.items() if key != "system_fingerprint"},
        "resolved": {key: v for key, v in identity.resolved.items() if key not in NAMES_OF_A_START},
    }
    return {name: group for name, group in facts.items() if group}


def _speeds(planned: PlannedGate, record: QualityRecord, boots: Sequence[str]) -> Iterator[Figure]:
    if planned.gate.check != "speed":
        return
    kinds = {probe.id: probe.kind or probe.id for probe in planned.gate.probes}
    measured = record.measurements.get(planned.gate.id, {})
    for boot in standing(record, planned.gate.id, boots):
        for probe, figures in measured.get(boot, {}).get("rates", {}).items():
            for metric in METRICS:
                for value in figures.get(metric, {}).get("values", ()):
                    yield Figure(metric=metric, kind=kinds[probe], prompt=probe, value=value, boot=int(boot))


def _passes(planned: PlannedGate, record: QualityRecord, boots: Sequence[str]) -> Iterator[PassFail]:
    """Sound verdicts of samples. A losslessness gate has a rate of its own, and measurements have figures."""
    if planned.compares or planned.family == "measurement":
        return
    kinds = {probe.id: probe.kind or planned.gate.id for probe in planned.gate.probes}
    verdicts = next(gate.verdicts for gate in record.gates if gate.gate == planned.gate.id)
    for boot in standing(record, planned.gate.id, boots):
        for sample in verdicts[boot].samples:
            probe = sample.sample.rpartition(".")[0]
            if sample.outcome in (Outcome.PASSED, Outcome.FAILED):
                yield PassFail(
                    gate=planned.gate.id,
                    kind=kinds.get(probe, planned.gate.id),
                    prompt=probe,
                    sample=sample.sample,
                    passed=sample.outcome is Outcome.PASSED,
                    boot=int(boot),
                )


def _losses(planned: PlannedGate, record: QualityRecord, boots: Sequence[str]) -> Iterator[LossFigures]:
    """Of the first boot that compared anything by token id."""
    measured = standing_measurements(record, planned.gate.id) if planned.compares else {}
    for boot in boots:
        found = measured.get(boot, {})
        arm = _parted(found.get("divergence"))
        if arm is not None and found.get("reference") is not None:
            control = _parted(found.get("noise_floor"))
            gate, against = planned.gate.id, found["reference"]
            yield LossFigures(gate=gate, against=against, arm=arm, control=control)
            return


def _parted(divergence: Json) -> Parted | None:
    """Events and tokens of a divergence by token id; `None` where nothing was compared so."""
    rate = (divergence or {}).get("per_1000_tokens", {})
    if rate.get("value") is None:
        return None
    interval = divergence["per_1000_tokens_interval"]
    return Parted(
        events=round(rate["value"] * rate["n"] / 1000),
        tokens=rate["n"],
        prompts=divergence.get("prompts", 0),
        per_1000_tokens=rate["value"],
        interval=Interval.model_validate({"high": None, **interval}),
    )


def _acceptance(plan: Plan, record: QualityRecord) -> Acceptance | None:
    """Of the first acceptance gate's first boot that has a figure."""
    for planned in plan.gates:
        if planned.gate.check != "acceptance":
            continue
        for measured in standing_measurements(record, planned.gate.id).values():
            counters: Json = measured.get("counters", {}).get("acceptance")
            if counters is not None:
                return Acceptance.model_validate(counters, strict=False)
    return None
