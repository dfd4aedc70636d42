"""Figures over context depth: a mean over depths hides where speculation loses."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from armgate.model.context_depth import DepthSpeedup, DepthTable


class DepthRates(NamedTuple):
    """Medians at one context depth in tokens: tok/s without and with speculation, mean accepted length."""

    depth_tokens: int
    off_tok_s: float
    on_tok_s: float
    mean_length: float | None = None


def speedup_by_depth(rows: Sequence[DepthRates]) -> DepthTable:
    """The speed-up at each depth, and the depths at which the arm is slower than without speculation.

    Needs at least one row.
    """
    table = tuple(
        DepthSpeedup(
            depth_tokens=row.depth_tokens,
            speedup=row.on_tok_s / row.off_tok_s,
            slower=row.on_tok_s < row.off_tok_s,
            mean_length=row.mean_length,
        )
        for row in sorted(rows)
    )
    lengths = [row.mean_length for row in table if row.mean_length is not None]
    return DepthTable(
        rows=table,
        mean_speedup=sum(row.speedup for row in table) / len(table),
        slower_at=tuple(row.depth_tokens for row in table if row.slower),
        length_falls=len(lengths) > 1 and all(b < a for a, b in pairwise(lengths)),
    )
