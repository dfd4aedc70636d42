"""Speed on the page: every point, its median and interval by arm and kind, and TTFT against context."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from markupsafe import Markup

from armgate.model.base import Json
from armgate.model.comparison import Summary
from armgate.model.outcome import Verdict
from armgate.reporting.facts import RunFacts
from armgate.reporting.page.drawing import (
    CHART,
    ROW,
    axis,
    axis_end,
    dots,
    figure,
    grid,
    scatter,
    svg,
    tick,
    whisker,
)

METRICS = ("decode_wall", "decode_span", "end_to_end", "batch_window", "prefill", "ttft")
"""First on the page, in this order; whatever else a gate measured follows by name."""

ARMS_IN_FULL = 20
"""Of more arms the page shows the metrics above alone; `quality.json` has all."""

SCATTER_POINTS = 400
"""Points of one arm that are drawn; the data set has them all."""


@dataclasses.dataclass(frozen=True)
class SpeedRow:
    index: int
    arm: str
    n: int
    boots: int
    median: str
    span: str
    interval: str
    plot: Markup


@dataclasses.dataclass(frozen=True)
class SpeedPlot:
    """One metric on one kind of prompt: a row an arm, all on one axis from zero."""

    metric: str
    words: str
    kind: str
    axis_end: str
    rows: tuple[SpeedRow, ...]


@dataclasses.dataclass(frozen=True)
class ScatterPlot:
    index: int
    arm: str
    n: int
    cached: int
    x_end: str
    y_end: str
    plot: Markup
    rows: tuple[tuple[str, str, int], ...]
    """(prompt tokens, median TTFT, n) of each length without cached tokens."""


Figures = Mapping[str, Json]
"""As recorded: formula, unit, values in the order sent."""

Values = dict[tuple[str, str], dict[str, list[tuple[int, Figures]]]]
"""(metric, kind) -> arm -> (boot, figures)."""


def speed_plots(run: RunFacts) -> tuple[SpeedPlot, ...]:
    """The metrics that decide come before those that explain."""
    values = measured_values(run)
    if len(run.records) > ARMS_IN_FULL:
        values = {key: found for key, found in values.items() if key[0] in METRICS}
    first = {metric: rank for rank, metric in enumerate(METRICS)}
    order = sorted(values, key=lambda key: (first.get(key[0], len(first)), key[0], not _compared(run, key)))
    return tuple(_plot(run, key, values[key]) for key in order)


def _compared(run: RunFacts, key: tuple[str, str]) -> bool:
    """Whether the comparison speaks of this metric on this kind of prompt."""
    compared = run.comparison.arms if run.comparison is not None else ()
    return any((s.metric, s.kind) == key for one in compared for s in one.summaries)


def measured_values(run: RunFacts) -> Values:
    """What the verdicts measured, without those whose figures do not stand."""
    values: Values = {}
    standing = [one for one in run.verdicts() if one[2].figures_stand]
    for arm, boot, verdict in standing:
        for metric, kind, figures in _recorded(run, verdict):
            if figures.get("values"):
                values.setdefault((metric, kind), {}).setdefault(arm, []).append((boot, figures))
    return values


def _recorded(run: RunFacts, verdict: Verdict) -> Iterator[tuple[str, str, Figures]]:
    """(metric, kind, figures) of one gate: rates by probe, and times of answers by what became of them."""
    for probe, rates in (verdict.measurements.get("rates") or {}).items():
        for metric, figures in rates.items():
            yield metric, _kind(run, verdict.gate, probe), figures
    for name, suffix in (("times", ""), ("times_of_broken_answers", " (answers that broke the contract)")):
        for metric, figures in (verdict.measurements.get(name) or {}).items():
            yield metric, f"{verdict.gate}{suffix}", figures


def _kind(run: RunFacts, gate: str, probe_id: str) -> str:
    planned = run.plan_file.plan.gate(gate)
    probe = next((probe for probe in planned.gate.probes if probe.id == probe_id), None)
    return probe.kind or probe.id if probe is not None else probe_id


def _plot(
    run: RunFacts, key: tuple[str, str], by_arm: Mapping[str, Sequence[tuple[int, Figures]]]
) -> SpeedPlot:
    metric, kind = key
    points = {arm: [(boot, v) for boot, f in found for v in f["values"]] for arm, found in by_arm.items()}
    summaries = {arm: _summary(run, arm, metric, kind) for arm in by_arm}
    highs = [s.interval.high for s in summaries.values() if s and s.interval and s.interval.high is not None]
    end = axis_end([*(value for found in points.values() for _, value in found), *highs])
    index = {arm: n for n, arm in enumerate(run.plan_file.plan.arms)}
    rows = tuple(_row(index[arm], arm, points[arm], summaries[arm], end) for arm in index if arm in points)
    said = next(figures for found in by_arm.values() for _, figures in found)
    words = f"{metric.replace('_', ' ')}: {said.get('formula', metric)}, {said.get('unit', '')}"
    return SpeedPlot(metric, words, kind, axis(end), rows)


def _summary(run: RunFacts, arm: str, metric: str, kind: str) -> Summary | None:
    """What the comparison says of this arm: the only source of intervals."""
    compared = run.comparison.arms if run.comparison is not None else ()
    of_arm = next((one.summaries for one in compared if one.name == arm), ())
    return next((s for s in of_arm if s.metric == metric and s.kind == kind), None)


def _row(
    index: int, arm: str, found: Sequence[tuple[int, float]], summary: Summary | None, end: float
) -> SpeedRow:
    values = [value for _, value in found]
    middle = median(values)
    marks = [dots(values, end), tick(middle, end)]
    interval = summary.interval if summary is not None else None
    said = (summary.interval_absent if summary is not None else None) or "none computed"
    if interval is not None and interval.high is not None:
        marks.insert(0, whisker(interval.low, interval.high, end))
        said = f"{figure(interval.low)} to {figure(interval.high)} ({interval.level:.0%}, {interval.method})"
    return SpeedRow(
        index=index,
        arm=arm,
        n=len(values),
        boots=len({boot for boot, _ in found}),
        median=figure(middle),
        span=f"{figure(min(values))} to {figure(max(values))}",
        interval=said,
        plot=svg(marks, ROW),
    )


def ttft_plots(run: RunFacts) -> tuple[ScatterPlot, ...]:
    """TTFT of every judged request against its prompt tokens, all arms on the same axes."""
    points = {arm: _ttft_points(run, arm) for arm in run.records}
    flat = [point for of_arm in points.values() for point in of_arm]
    x_end, y_end = axis_end(x for x, _, _ in flat), axis_end(y for _, y, _ in flat)
    index = {arm: n for n, arm in enumerate(run.plan_file.plan.arms)}
    return tuple(_scatter(index[arm], arm, of_arm, x_end, y_end) for arm, of_arm in points.items() if of_arm)


Point = tuple[int, float, bool]
"""Prompt tokens, TTFT in seconds, whether any prompt token came out of a cache."""


def _ttft_points(run: RunFacts, arm: str) -> list[Point]:
    seen = {}
    for (name, boot), facts in run.boots.items():
        if name == arm:
            for path, reply in facts.replies.items():
                if reply.ttft_s is not None and reply.prompt_tokens is not None:
                    seen[boot, path] = (reply.prompt_tokens, reply.ttft_s, bool(reply.cached_tokens))
    return list(seen.values())


def _scatter(index: int, arm: str, points: Sequence[Point], x_end: float, y_end: float) -> ScatterPlot:
    fresh = [(float(x), y) for x, y, cached in points if not cached]
    cached = [(float(x), y) for x, y, was in points if was]
    marks = [
        grid(),
        scatter(fresh[:SCATTER_POINTS], x_end, y_end, "dot"),
        scatter(cached[:SCATTER_POINTS], x_end, y_end, "dot cached"),
    ]
    return ScatterPlot(
        index=index,
        arm=arm,
        n=len(points),
        cached=len(cached),
        x_end=axis(x_end),
        y_end=axis(y_end),
        plot=svg(marks, CHART),
        rows=tuple(_by_length(fresh)),
    )


def _by_length(fresh: Sequence[tuple[float, float]]) -> Iterator[tuple[str, str, int]]:
    lengths: dict[float, list[float]] = {}
    for x, y in fresh:
        lengths.setdefault(x, []).append(y)
    for length in sorted(lengths):
        yield f"{length:,.0f}", figure(median(lengths[length])), len(lengths[length])
