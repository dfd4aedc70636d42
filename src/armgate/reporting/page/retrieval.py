"""The marker heat map: what came back of each haystack, by input length and where the marker stood."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from armgate.model.base import Json
from armgate.model.outcome import Outcome, Verdict
from armgate.reporting.facts import RunFacts
from armgate.reporting.page.places import verdict_id
from armgate.reporting.page.speculation import shade
from armgate.reporting.page.verdicts import SIGNS

Found = tuple[str, int, Verdict]


@dataclasses.dataclass(frozen=True)
class MarkerCell:
    text: str
    shade: int | None
    """0 to 10 by the share found; `None` where nothing was judged."""
    link: str


@dataclasses.dataclass(frozen=True)
class MarkerRow:
    index: int
    label: str
    cells: tuple[MarkerCell | None, ...]


@dataclasses.dataclass(frozen=True)
class MarkerMap:
    """A table of cells. Of a plain gate: arms by samples. Of a sweep, for each arm: lengths by depths."""

    title: str
    corner: str
    columns: tuple[str, ...]
    rows: tuple[MarkerRow, ...]


def marker_maps(run: RunFacts) -> tuple[MarkerMap, ...]:
    maps: list[MarkerMap] = []
    for planned in run.plan_file.plan.gates:
        found = [item for item in run.verdicts() if item[2].gate == planned.gate.id]
        swept = [item for item in found if item[2].measurements.get("heat_map")]
        maps += [_sweep(run, *item) for item in swept] or _plain(run, planned.gate.id, found)
    return tuple(maps)


def _plain(run: RunFacts, gate: str, found: Sequence[Found]) -> list[MarkerMap]:
    columns = tuple(dict.fromkeys(sample for *_, verdict in found for sample in _markers(verdict)))
    if not columns:
        return []
    arms = list(run.plan_file.plan.arms)
    rows = tuple(
        MarkerRow(arms.index(arm), arm, tuple(_cell(arm, boot, verdict, c) for c in columns))
        for arm, boot, verdict in found
    )
    return [MarkerMap(f"{gate}: {_tokens(found)}; markers found of markers asked", "arm", columns, rows)]


def _sweep(run: RunFacts, arm: str, boot: int, verdict: Verdict) -> MarkerMap:
    """Right answers of those judged, by length asked (rows) and depth asked (columns)."""
    points = {(row["length"], row["depth"]): row for row in verdict.measurements["heat_map"]}
    lengths = list(dict.fromkeys(length for length, _ in points))
    depths = list(dict.fromkeys(depth for _, depth in points))
    link = "#" + verdict_id(arm, boot, verdict.gate)
    index = list(run.plan_file.plan.arms).index(arm)
    rows = tuple(
        MarkerRow(index, f"{length:,}", tuple(_point(points.get((length, depth)), link) for depth in depths))
        for length in lengths
    )
    columns = tuple(f"depth {depth:.0%}" if depth is not None else "depth" for depth in depths)
    return MarkerMap(f"{verdict.gate}, {arm}: right answers of those judged", "prompt tokens", columns, rows)


def _point(row: Mapping[str, Json] | None, link: str) -> MarkerCell | None:
    if row is None:
        return None
    if row.get("not_sent"):
        return MarkerCell(f"- {row['not_sent']}", None, link)
    right, judged = row.get("passed", 0), row.get("passed", 0) + row.get("failed", 0)
    if not judged:
        return MarkerCell(f"? {row.get('n', 0)} without a verdict", None, link)
    return MarkerCell(f"{right} of {judged}", shade(right / judged), link)


def _markers(verdict: Verdict) -> Mapping[str, Json]:
    found = verdict.measurements.get("markers")
    return found if isinstance(found, Mapping) else {}


def _cell(arm: str, boot: int, verdict: Verdict, sample: str) -> MarkerCell | None:
    """Found of asked; a sample that was not scored shows its outcome, a gate that did not run nothing."""
    link = "#" + verdict_id(arm, boot, verdict.gate)
    score = _markers(verdict).get(sample)
    if isinstance(score, Mapping) and score.get("asked"):
        share = score["found"] / score["asked"]
        return MarkerCell(f"{score['found']} of {score['asked']}", shade(share), link)
    if verdict.outcome is Outcome.SKIPPED:
        return MarkerCell(f"{SIGNS[verdict.outcome]} skipped", None, link)
    outcome = next((s.outcome for s in verdict.samples if s.sample == sample), None)
    return MarkerCell(f"{SIGNS[outcome]} {outcome}", None, link) if outcome is not None else None


def _tokens(found: Sequence[Found]) -> str:
    """Prompt tokens as the server counted them before sending."""
    lengths = {
        length["counted"]
        for *_, verdict in found
        for length in (verdict.measurements.get("prompt_tokens") or {}).values()
        if isinstance(length, Mapping) and length.get("counted") is not None
    }
    if not lengths:
        return "length not known"
    low, high = min(lengths), max(lengths)
    return f"{low:,} prompt tokens" if low == high else f"{low:,} to {high:,} prompt tokens"
