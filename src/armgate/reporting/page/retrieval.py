"""The marker heat map: what came back of each haystack, by input length and where the marker stood."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from armgate.model.base import Json
from armgate.model.outcome import Outcome, Verdict
from armgate.reporting.facts import RunFacts
from armgate.reporting.page.places import verdict_id
from armgate.reporting.page.speculation import shade
from armgate.reporting.page.verdicts import SIGNS


@dataclasses.dataclass(frozen=True)
class MarkerCell:
    text: str
    shade: int | None
    """0 to 10 by the share found; `None` where nothing was judged."""
    link: str


@dataclasses.dataclass(frozen=True)
class MarkerRow:
    index: int
    arm: str
    cells: tuple[MarkerCell | None, ...]


@dataclasses.dataclass(frozen=True)
class MarkerMap:
    """One retrieval gate: columns are its samples, in the order of the plan."""

    gate: str
    tokens: str
    columns: tuple[str, ...]
    rows: tuple[MarkerRow, ...]


def marker_maps(run: RunFacts) -> tuple[MarkerMap, ...]:
    plan = run.plan_file.plan
    maps = []
    for planned in plan.gates:
        found = [item for item in run.verdicts() if item[2].gate == planned.gate.id]
        columns = tuple(dict.fromkeys(s for *_, verdict in found for s in _markers(verdict)))
        if columns:
            arms = list(plan.arms)
            rows = tuple(
                MarkerRow(arms.index(arm), arm, tuple(_cell(arm, boot, verdict, c) for c in columns))
                for arm, boot, verdict in found
            )
            maps.append(MarkerMap(planned.gate.id, _tokens(found), columns, rows))
    return tuple(maps)


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


def _tokens(found: list[tuple[str, int, Verdict]]) -> str:
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
