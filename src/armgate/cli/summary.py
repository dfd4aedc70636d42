"""The table of arms that ends a run: verdict, gates by outcome, first reason, speed, acceptance, memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import Group
from rich.table import Table
from rich.text import Text

from armgate.cli.output import ARM_COLOURS, inert
from armgate.judging.observation import figures_stand
from armgate.model.base import Json
from armgate.model.outcome import Outcome
from armgate.model.quality import GateRecord, QualityRecord
from armgate.reporting.quality import clock_words

LEGEND = "arms; required gates + passed, x failed, - skipped, ? void, ! errored; accepted = tokens a step"
REASON_CHARS = 300
SPEED_LINES = 8


def summary(records: Mapping[str, QualityRecord]) -> Group:
    """The table, every reason of each arm that was not accepted, and how wrong the client's clocks can be."""
    lines = [
        Text(f"{name}: {inert(reason)[:REASON_CHARS]}")
        for name, record in records.items()
        for reason in record.reasons
    ]
    clocks = dict.fromkeys(clock_words(record.calibration) for record in records.values())
    return Group(_table(records), *lines, *map(Text, clocks))


def _table(records: Mapping[str, QualityRecord]) -> Table:
    """One row per arm. Counts are of required gates, in the order of the legend."""
    table = Table(box=None, padding=(0, 2, 0, 0), title=LEGEND, title_justify="left", title_style="")
    for heading in ("arm", "verdict", "+/x/-/?/!", "decode tok/s", "accepted", "peak MiB"):
        table.add_column(heading, overflow="fold")
    for name, record in records.items():
        verdict = Text(record.arm_verdict.value, style=ARM_COLOURS[record.arm_verdict])
        table.add_row(name, verdict, _counts(record), _speed(record), _accepted(record), _memory(record))
    return table


def _counts(record: QualityRecord) -> str:
    outcomes = [gate.outcome for gate in record.gates if gate.required]
    order = (Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED, Outcome.VOID, Outcome.ERRORED)
    return "/".join(str(outcomes.count(outcome)) for outcome in order)


def _speed(record: QualityRecord) -> str:
    """Medians of the speed gates by prompt, `decode_wall`, each with its n; the first of a long grid."""
    shown = [line for gate in record.gates if gate.check == "speed" for line in _rates(gate)]
    more = len(shown) - SPEED_LINES
    return "\n".join(shown[:SPEED_LINES] + ([f"and {more} more"] if more > 0 else [])) or "none"


def _rates(gate: GateRecord) -> Iterator[str]:
    for verdict in gate.verdicts.values():
        void = "" if figures_stand(verdict) else f", void: {verdict.cause}"
        for probe, figures in verdict.measurements.get("rates", {}).items():
            decode = figures.get("decode_wall", {})
            if "median" in decode:
                yield f"{probe} {decode['median']:.1f} (n={decode['n']}{void})"


def _accepted(record: QualityRecord) -> str:
    for gate in record.gates:
        if gate.check != "acceptance":
            continue
        for measured in record.measurements.get(gate.gate, {}).values():
            length: Json = measured.get("counters", {}).get("acceptance", {}).get("mean_length", {})
            if length.get("value") is not None:
                return f"{length['value']:.2f}"
    return "none"


def _memory(record: QualityRecord) -> str:
    peaks = [boot.get("observed", {}).get("rss_peak_bytes") for boot in record.memory.values()]
    known = [peak for peak in peaks if peak is not None]
    return f"{max(known) / 2**20:.0f}" if known else "unknown"
