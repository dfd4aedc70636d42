"""The table of arms that ends a run: verdict, gates by outcome, first reason, speed, acceptance, memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import Group
from rich.table import Table
from rich.text import Text

from armgate.cli.output import ARM_COLOURS, inert
from armgate.model.base import Json
from armgate.model.comparison import Comparison
from armgate.model.outcome import Outcome
from armgate.model.quality import GateRecord, QualityRecord
from armgate.reporting.quality import clock_words

LEGEND = "arms; required gates + passed, x failed, - skipped, ? void, ! errored; accepted = tokens a step"
REASON_CHARS = 300
SPEED_LINES = 8


def summary(records: Mapping[str, QualityRecord], compared: Comparison | None = None) -> Group:
    """The table, every reason of each arm that was not accepted, and how wrong the client's clocks can be."""
    lines = [
        Text(f"{name}: {inert(reason)[:REASON_CHARS]}")
        for name, record in records.items()
        for reason in record.reasons
    ]
    clocks = dict.fromkeys(clock_words(record.calibration) for record in records.values())
    return Group(_table(records, compared), *lines, *map(Text, clocks))


def _table(records: Mapping[str, QualityRecord], compared: Comparison | None) -> Table:
    """One row per arm. Counts are of required gates, in the order of the legend."""
    table = Table(box=None, padding=(0, 2, 0, 0), title=LEGEND, title_justify="left", title_style="")
    for heading in ("arm", "verdict", "+/x/-/?/!", "decode tok/s", "accepted", "peak MiB"):
        table.add_column(heading, overflow="fold")
    for name, record in records.items():
        verdict = Text(record.arm_verdict.value, style=ARM_COLOURS[record.arm_verdict])
        speed = _compared_speed(name, compared) or _speed(record)
        table.add_row(name, verdict, _counts(record), speed, _accepted(record), _memory(record))
    return table


def _counts(record: QualityRecord) -> str:
    outcomes = [gate.outcome for gate in record.gates if gate.required]
    order = (Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED, Outcome.VOID, Outcome.ERRORED)
    return "/".join(str(outcomes.count(outcome)) for outcome in order)


def _compared_speed(arm: str, compared: Comparison | None) -> str:
    """Medians of the metric that the choice goes by, by kind of prompt, with n and interval."""
    if compared is None:
        return ""
    summaries = next((one.summaries for one in compared.arms if one.name == arm), ())
    shown = []
    for one in summaries:
        if one.metric == compared.choice.metric:
            interval = one.interval
            high = "" if interval is None or interval.high is None else f"{interval.high:.1f}"
            spread = f", {interval.low:.1f}-{high}" if interval is not None else ", no interval"
            shown.append(f"{one.kind} {one.median:.1f} (n={one.n}{spread})")
    return "\n".join(shown)


def _speed(record: QualityRecord) -> str:
    """Medians of the speed gates by prompt, `decode_wall`, each with its n; the first of a long grid."""
    shown = [line for gate in record.gates if gate.check == "speed" for line in _rates(gate)]
    more = len(shown) - SPEED_LINES
    return "\n".join(shown[:SPEED_LINES] + ([f"and {more} more"] if more > 0 else [])) or "none"


def _rates(gate: GateRecord) -> Iterator[str]:
    for verdict in gate.verdicts.values():
        void = "" if verdict.figures_stand else f", void: {verdict.cause}"
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
