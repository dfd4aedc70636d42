"""Figures over context depth: a mean over depths hides where speculation loses and where retrieval breaks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from armgate.model.comparison import DepthSpeedup, DepthTable, RetrievalStep


class DepthRates(NamedTuple):
    """Medians at one context depth in tokens: tok/s without and with speculation, mean accepted length."""

    depth_tokens: int
    off_tok_s: float
    on_tok_s: float
    mean_length: float | None = None


class DepthHits(NamedTuple):
    """Retrieval at one context depth in tokens: right answers of n."""

    depth_tokens: int
    right: int
    n: int


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


def retrieval_step(rows: Sequence[DepthHits], chunk_tokens: int | None) -> RetrievalStep | None:
    """Where retrieval breaks for good, and whether the prefill chunk's size lies in that gap.

    `None` where it never breaks, or never worked. A depth is good from half of its answers right on.
    """
    ordered = sorted(rows)
    good = [row for row in ordered if 2 * row.right >= row.n]
    if not good:
        return None
    beyond = [row for row in ordered if row.depth_tokens > good[-1].depth_tokens]
    if not beyond:
        return None
    last_good, first_bad = good[-1].depth_tokens, beyond[0].depth_tokens
    return RetrievalStep(
        last_good_tokens=last_good,
        first_bad_tokens=first_bad,
        chunk_tokens=chunk_tokens,
        at_chunk_boundary=chunk_tokens is not None and last_good <= chunk_tokens < first_bad,
    )
