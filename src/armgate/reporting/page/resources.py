"""Memory over time, the timeline of boots, and traffic that was not this run's."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from markupsafe import Markup

from armgate.model.base import Json
from armgate.model.measures import Interference
from armgate.reporting.facts import BootFacts, RunFacts
from armgate.reporting.page.drawing import CHART, ROW, axis, axis_end, grid, line, segment, svg, thinned
from armgate.reporting.page.places import boot_id, verdict_id

MIB = 2**20
TRACE_POINTS = 120


@dataclasses.dataclass(frozen=True)
class MemoryPlot:
    index: int
    title: str
    n: int
    peak: str
    x_end: str
    y_end: str
    plot: Markup


@dataclasses.dataclass(frozen=True)
class BootRow:
    index: int
    anchor: str
    title: str
    state: str
    started: str
    ready: str
    total: str
    cause: str
    plot: Markup


@dataclasses.dataclass(frozen=True)
class InterferenceRow:
    """One boot: gates without foreign traffic, with it, and those whose counters could not tell."""

    index: int
    title: str
    clean: int
    foreign: tuple[tuple[str, str, str], ...]
    """(gate, link, what was counted)."""
    unknown: tuple[tuple[str, str, str], ...]


def memory_plots(run: RunFacts) -> tuple[MemoryPlot, ...]:
    """Resident memory of each boot's process tree, all boots on the same axes."""
    traces = {key: _trace(facts) for key, facts in run.boots.items()}
    flat = [point for trace in traces.values() for point in trace]
    x_end, y_end = axis_end(x for x, _ in flat), axis_end(y for _, y in flat)
    arms = list(run.plan_file.plan.arms)
    return tuple(
        MemoryPlot(
            index=arms.index(arm),
            title=f"{arm} {boot:02d}",
            n=len(trace),
            peak=f"{max(y for _, y in trace):,.0f}",
            x_end=axis(x_end),
            y_end=axis(y_end),
            plot=svg([grid(), line(thinned(trace, TRACE_POINTS), x_end, y_end)], CHART),
        )
        for (arm, boot), trace in traces.items()
        if trace
    )


def _trace(facts: BootFacts) -> list[tuple[float, float]]:
    """(seconds since the first reading, MiB) of every reading that was possible."""
    zero = facts.memory[0].at_s if facts.memory else 0.0
    return [(s.at_s - zero, s.rss_bytes / MIB) for s in facts.memory if s.rss_bytes is not None]


def boot_rows(run: RunFacts) -> tuple[BootRow, ...]:
    """Every boot from its start to its end, on one axis from the first start."""
    starts = {key: _start_s(facts) for key, facts in run.boots.items()}
    known = [start for start in starts.values() if start is not None]
    zero = min(known, default=0.0)
    ends = [(starts[key] or zero) - zero + (facts.record.total_s or 0.0) for key, facts in run.boots.items()]
    end = max([*ends, 1.0])
    return tuple(_boots(run, starts, zero, end))


def _boots(
    run: RunFacts, starts: dict[tuple[str, int], float | None], zero: float, end: float
) -> Iterator[BootRow]:
    arms = list(run.plan_file.plan.arms)
    for (arm, boot), facts in run.boots.items():
        record, start = facts.record, starts[arm, boot]
        yield BootRow(
            index=arms.index(arm),
            anchor=boot_id(arm, boot),
            title=f"{arm} {boot:02d}",
            state=record.state.value.replace("_", " "),
            started=record.started_utc or "not started",
            ready=f"{record.ready_s:.1f}" if record.ready_s is not None else "never",
            total=f"{record.total_s:.1f}" if record.total_s is not None else "not known",
            cause=f"{record.cause}: {record.message or ''}" if record.cause else "",
            plot=svg([] if start is None else _phases(facts, start - zero, end), ROW),
        )


def _phases(facts: BootFacts, start: float, end: float) -> Sequence[Markup]:
    """Until the first real token, then until the server was gone."""
    ready, total = facts.record.ready_s, facts.record.total_s or 0.0
    until_ready = start + (ready if ready is not None else total)
    return [
        segment(start, until_ready, end, "strip after"),
        segment(until_ready, start + total, end, "strip same"),
    ]


def _start_s(facts: BootFacts) -> float | None:
    if facts.record.started_utc is None:
        return None
    return datetime.fromisoformat(facts.record.started_utc).timestamp()


def interference_rows(run: RunFacts) -> tuple[InterferenceRow, ...]:
    return tuple(row for row in _interference(run) if row.clean or row.foreign or row.unknown)


def _interference(run: RunFacts) -> Iterator[InterferenceRow]:
    arms = list(run.plan_file.plan.arms)
    for (arm, boot), facts in run.boots.items():
        told: dict[bool | None, list[tuple[str, str, str]]] = {True: [], False: [], None: []}
        for gate in run.plan_file.plan.gate_ids:
            found = facts.verdicts[gate].measurements.get("interference") if gate in facts.verdicts else None
            if isinstance(found, dict):
                foreign, words = _foreign(found)
                told[foreign].append((gate, "#" + verdict_id(arm, boot, gate), words))
        yield InterferenceRow(
            index=arms.index(arm),
            title=f"{arm} {boot:02d}",
            clean=len(told[False]),
            foreign=tuple(told[True]),
            unknown=tuple(told[None]),
        )


def _foreign(found: Mapping[str, Json]) -> tuple[bool | None, str]:
    """Whether the server counted traffic that was not ours, and how much; unknown where it cannot tell."""
    names = ("requests", "prompt_tokens", "generation_tokens")
    counts = {name.replace("_", " "): found[name] for name in names if isinstance(found.get(name), int)}
    if not counts:
        return None, str(found.get("absent") or "its counters do not say enough")
    words = ", ".join(f"{count:+d} {name}" for name, count in counts.items())
    return Interference.model_validate(found).foreign, words
