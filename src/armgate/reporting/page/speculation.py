"""Speculation on the page: acceptance by position, and where each answer parts from its reference."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from markupsafe import Markup

from armgate.model.base import Json
from armgate.model.outcome import SampleVerdict
from armgate.reporting.facts import RunFacts
from armgate.reporting.page.drawing import ROW, figure, segment, svg, tick
from armgate.reporting.page.places import verdict_id


@dataclasses.dataclass(frozen=True)
class AcceptanceRow:
    """Acceptance of one gate of one boot; `positions` are shares of drafts, first position first."""

    index: int
    arm: str
    gate: str
    link: str
    drafts: int
    rate: str
    mean_length: str
    positions: tuple[tuple[str, int], ...]
    """(share, step of ten for its shade)."""


@dataclasses.dataclass(frozen=True)
class DivergenceRow:
    index: int
    arm: str
    sample: str
    against: str
    state: str
    says: str
    link: str
    plot: Markup


def acceptance_rows(run: RunFacts) -> tuple[AcceptanceRow, ...]:
    return tuple(_acceptance(run))


def _acceptance(run: RunFacts) -> Iterator[AcceptanceRow]:
    arms = list(run.plan_file.plan.arms)
    for arm, boot, verdict in run.verdicts():
        found = (verdict.measurements.get("counters") or {}).get("acceptance")
        if not found or verdict.check != "acceptance":
            continue
        shares = found.get("per_position") or ()
        yield AcceptanceRow(
            index=arms.index(arm),
            arm=arm,
            gate=verdict.gate,
            link="#" + verdict_id(arm, boot, verdict.gate),
            drafts=found["drafts"],
            rate=_measure(found.get("rate")),
            mean_length=_measure(found.get("mean_length")),
            positions=tuple((f"{share:.0%}", shade(share)) for share in shares),
        )


def _measure(found: Mapping[str, Json] | None) -> str:
    if not found:
        return "not known"
    value = found.get("value")
    return figure(value) if value is not None else f"absent: {found.get('absent')}"


def shade(share: float) -> int:
    """0 to 10, for a shade that a style knows."""
    return round(min(max(share, 0.0), 1.0) * 10)


def divergence_rows(run: RunFacts) -> tuple[DivergenceRow, ...]:
    """Every compared sample; all strips are on one axis of tokens (or characters) of output."""
    pairs = [
        (arm, boot, verdict.gate, sample)
        for arm, boot, verdict in run.verdicts()
        if verdict.check == "losslessness"
        for sample in verdict.samples
        if sample.detail.get("state")
    ]
    end = float(max((_length(run, *pair) for pair in pairs), default=1) or 1)
    return tuple(_divergence(run, *pair, end) for pair in pairs)


def _length(run: RunFacts, arm: str, boot: int, gate: str, sample: SampleVerdict) -> int:
    """Of the whole answer where it was counted, else as far as it was compared."""
    reply = run.boots[arm, boot].reply_of(sample)
    counted = reply.completion_tokens if reply is not None else None
    by_tokens = sample.detail.get("level") == "token_ids"
    return max(int(sample.detail.get("compared", 0)), (counted or 0) if by_tokens else 0)


def _divergence(
    run: RunFacts, arm: str, boot: int, gate: str, sample: SampleVerdict, end: float
) -> DivergenceRow:
    detail, length = sample.detail, _length(run, arm, boot, gate, sample)
    prefix = detail.get("common_prefix", 0)
    same = length if detail["state"] == "identical" else prefix
    marks = [segment(0, length, end, "strip after"), segment(0, same, end, "strip same")]
    if detail.get("divergence"):
        marks.append(tick(prefix, end))
    return DivergenceRow(
        index=list(run.plan_file.plan.arms).index(arm),
        arm=arm,
        sample=sample.sample,
        against=_against(run, arm, gate),
        state=detail["state"],
        says=_says(detail, length),
        link="#" + verdict_id(arm, boot, gate),
        plot=svg(marks, ROW),
    )


def _against(run: RunFacts, arm: str, gate: str) -> str:
    plan = run.plan_file.plan
    reference = plan.gate(gate).reference_of(plan.arms[arm])
    return "its own repeat" if reference == arm else reference


def _says(detail: Mapping[str, Json], length: int) -> str:
    unit = "tokens" if detail.get("level") == "token_ids" else "characters"
    parted = detail.get("divergence")
    if not parted:
        return f"{length} {unit}" if detail["state"] == "identical" else str(detail.get("void_cause", ""))
    tie = " (near tie)" if parted.get("near_tie") else ""
    return f"parts at {parted['index']} of {length} {unit}{tie}"
