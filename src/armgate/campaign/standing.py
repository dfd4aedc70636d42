"""Which boots' figures of a gate may be compared: those whose verdict is not void as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from armgate.model.base import Json
from armgate.model.quality import QualityRecord


def standing(record: QualityRecord, gate: str, boots: Iterable[str]) -> list[str]:
    """Of `boots`, those with a verdict in the gate that leaves its figures standing."""
    verdicts = next((one.verdicts for one in record.gates if one.gate == gate), {})
    return [boot for boot in boots if boot in verdicts and verdicts[boot].figures_stand]


def standing_measurements(record: QualityRecord, gate: str) -> Mapping[str, dict[str, Json]]:
    """The gate's measurements by boot, without those that a void takes away."""
    measured = record.measurements.get(gate, {})
    return {boot: measured[boot] for boot in standing(record, gate, measured)}
