"""Which draft depth to try next: what each depth was measured at, and what the others would give."""

from __future__ import annotations

from typing import Literal

from armgate.model.base import Frozen


class DepthRow(Frozen):
    """One depth as it was run. Ratio and speed are two things: either may rise while the other falls."""

    arm: str
    depth: int
    tok_s: float
    """Median decode rate."""
    acceptance_rate: float | None
    mean_length: float
    """Tokens a step, with the bonus token; 1 without a draft."""
    step_s: float
    """mean length/decode rate."""


class DepthPrediction(Frozen):
    """The expected decode rate at a depth. `low` and `high` are what the measurements leave open."""

    depth: int
    tok_s: float
    low: float
    high: float


class DepthCheck(Frozen):
    """A depth that was run, predicted from the others alone: the prediction beside the measurement."""

    depth: int
    predicted: DepthPrediction
    measured_tok_s: float

    @property
    def within(self) -> bool:
        return self.predicted.low <= self.measured_tok_s <= self.predicted.high


class DepthAdvice(Frozen):
    """Advice for one draft on one kind of prompt, from arms of which only the depth differs."""

    reference: str
    kind: str
    rows: tuple[DepthRow, ...]
    acceptance_model: Literal["per position, pooled over arms", "geometric, from totals"]
    formula: str = "(1 + expected accepted tokens)/(fixed step time + time per draft token x depth)"
    range_is: str = (
        "from the slowest and fastest requests and Wilson intervals of the acceptance; no confidence interval"
    )
    predictions: tuple[DepthPrediction, ...]
    checks: tuple[DepthCheck, ...]
    try_next: int | None
    statement: str
    notes: tuple[str, ...]
