"""Speed on the page: every point, its median and interval by arm and kind, and TTFT against context."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from markupsafe import Markup

from armgate.model.comparison import Summary
from armgate.model.gates import Probe
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

METRICS = ("decode_wall", "decode_span", "end_to_end", "prefill", "ttft_s")
WORDS = {
    "decode_wall": "decode rate over the wall, N/(wall-TTFT), tok/s",
    "decode_span": "decode rate over the span, (N-1)/(last-first delta), tok/s",
    "end_to_end": "end to end, N/wall, tok/s",
    "prefill": "prefill, uncached prompt tokens/TTFT, tok/s",
    "ttft_s": "time to first token, s",
}
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


Key = tuple[str, str]
Values = dict[Key, dict[str, list[tuple[int, float]]]]


def speed_plots(run: RunFacts) -> tuple[SpeedPlot, ...]:
    """The first metric of every kind first: what decides comes before what explains."""
    values = _values(run)
    order = sorted(values, key=lambda key: METRICS.index(key[0]))
    return tuple(_plot(run, key, values[key]) for key in order)


def _values(run: RunFacts) -> Values:
    probes = {(p.gate.id, probe.id): probe for p in run.plan_file.plan.gates for probe in p.gate.probes}
    values: Values = {}
    for arm, boot, verdict in run.verdicts():
        if verdict.check != "speed":
            continue
        for sample in verdict.samples:
            rates = sample.detail.get("rates") or {}
            kind = _kind(probes.get((verdict.gate, sample.sample.rpartition(".")[0])), sample.sample)
            for metric, value in _measured(rates):
                values.setdefault((metric, kind), {}).setdefault(arm, []).append((boot, value))
    return values


def _kind(probe: Probe | None, sample: str) -> str:
    return probe.kind or probe.id if probe is not None else sample


def _measured(rates: Mapping[str, object]) -> Iterator[tuple[str, float]]:
    for metric in METRICS:
        found = rates.get(metric)
        value = found.get("value") if isinstance(found, Mapping) else found
        if isinstance(value, int | float):
            yield metric, float(value)


def _plot(run: RunFacts, key: Key, by_arm: Mapping[str, Sequence[tuple[int, float]]]) -> SpeedPlot:
    metric, kind = key
    summaries = {arm: _summary(run, arm, metric, kind) for arm in by_arm}
    highs = [s.interval.high for s in summaries.values() if s and s.interval and s.interval.high is not None]
    end = axis_end([*(value for values in by_arm.values() for _, value in values), *highs])
    arms = [arm for arm in run.plan_file.plan.arms if arm in by_arm]
    index = {arm: n for n, arm in enumerate(run.plan_file.plan.arms)}
    rows = tuple(_row(index[arm], arm, by_arm[arm], summaries[arm], end) for arm in arms)
    return SpeedPlot(metric, WORDS[metric], kind, axis(end), rows)


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
