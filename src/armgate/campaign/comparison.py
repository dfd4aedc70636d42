"""The comparison of a run's arms, from their quality records alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from armgate.analysis.comparison import compare_arms
from armgate.model.base import Json
from armgate.model.comparison import ArmFigures, Comparison, Figure
from armgate.model.measures import Acceptance
from armgate.model.plan import Plan, PlannedGate
from armgate.model.quality import QualityRecord
from armgate.reporting.run_folder import json_bytes, model_bytes

METRIC = "decode_wall"
"""Decides the choice: completion tokens over wall time less TTFT, the figure that reports quote."""

METRICS = ("decode_wall", "decode_span", "end_to_end")


def comparison(plan: Plan, records: Mapping[str, QualityRecord]) -> Comparison | None:
    """The comparison of the arms on record, or `None` while the reference has none."""
    if plan.reference not in records:
        return None
    figures = [_figures(plan, record) for record in records.values()]
    return compare_arms(figures, plan.reference, METRIC)


def comparison_bytes(plan: Plan, records: Mapping[str, QualityRecord]) -> bytes:
    made = comparison(plan, records)
    if made is None:
        return json_bytes(
            {"schema_version": "armgate/comparison/v1", "reference": plan.reference, "arms": []}
        )
    return model_bytes(made)


def _figures(plan: Plan, record: QualityRecord) -> ArmFigures:
    speed = [planned for planned in plan.gates if planned.gate.check == "speed"]
    return ArmFigures(
        name=record.arm,
        arm=plan.arms[record.arm],
        arm_verdict=record.arm_verdict,
        reasons=record.reasons,
        figures=tuple(figure for planned in speed for figure in _of_gate(planned, record)),
        acceptance=_acceptance(plan, record),
    )


def _of_gate(planned: PlannedGate, record: QualityRecord) -> Iterator[Figure]:
    kinds = {probe.id: probe.kind or probe.id for probe in planned.gate.probes}
    for boot, measured in record.measurements.get(planned.gate.id, {}).items():
        for probe, figures in measured.get("rates", {}).items():
            for metric in METRICS:
                for value in figures.get(metric, {}).get("values", ()):
                    yield Figure(metric=metric, kind=kinds[probe], prompt=probe, value=value, boot=int(boot))


def _acceptance(plan: Plan, record: QualityRecord) -> Acceptance | None:
    """Of the first acceptance gate's first boot that has a figure."""
    for planned in plan.gates:
        if planned.gate.check != "acceptance":
            continue
        for measured in record.measurements.get(planned.gate.id, {}).values():
            counters: Json = measured.get("counters", {}).get("acceptance")
            if counters is not None:
                return Acceptance.model_validate(counters, strict=False)
    return None
