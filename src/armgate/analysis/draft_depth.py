"""Draft depth: the expected decode rate at depths that were not run, from acceptance and the cost of a step.

A step of depth k yields one token and those of k drafts that are accepted, and takes a fixed time and a time
for each draft token (Leviathan et al. 2023, section 3, with the cost measured and not assumed).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from statistics import fmean, median
from typing import NamedTuple

from armgate.model.draft_depth import DepthAdvice, DepthCheck, DepthPrediction, DepthRow
from armgate.model.intervals import wilson_interval
from armgate.model.measures import Acceptance

DEEPEST = 16


class DepthPoint(NamedTuple):
    """One arm on one kind of prompt: decode rates of its requests, in tok/s, and its acceptance there."""

    arm: str
    depth: int
    tok_s: tuple[float, ...]
    acceptance: Acceptance | None

    @property
    def mean_length(self) -> float | None:
        if self.depth == 0:
            return 1.0
        return self.acceptance.mean_length.value if self.acceptance is not None else None


class _Bounds(NamedTuple):
    low: float
    mid: float
    high: float


def advise(reference: str, kind: str, points: Sequence[DepthPoint]) -> DepthAdvice | None:
    """Advice from arms of which only the depth differs; `None` below two depths, one of them with a draft."""
    known = sorted((one for one in points if one.mean_length and one.tok_s), key=lambda one: one.depth)
    if len({one.depth for one in known}) < 2:
        return None
    measured = {one.depth for one in known}
    deepest = min(DEEPEST, 2 * max(measured))
    predictions = tuple(_predicted(known, depth) for depth in range(1, deepest + 1))
    rows = tuple(_row(one) for one in known)
    try_next, statement = _next(rows, [one for one in predictions if one.depth not in measured])
    per_position = _positions(known) is not None
    return DepthAdvice(
        reference=reference,
        kind=kind,
        rows=rows,
        acceptance_model="per position, pooled over arms" if per_position else "geometric, from totals",
        predictions=predictions,
        checks=tuple(_checks(known)),
        try_next=try_next,
        statement=statement,
        notes=tuple(_notes(rows)),
    )


def _row(point: DepthPoint) -> DepthRow:
    assert point.mean_length is not None
    rate = median(point.tok_s)
    return DepthRow(
        arm=point.arm,
        depth=point.depth,
        tok_s=rate,
        acceptance_rate=point.acceptance.rate.value if point.acceptance is not None else None,
        mean_length=point.mean_length,
        step_s=point.mean_length / rate,
    )


def _predicted(points: Sequence[DepthPoint], depth: int) -> DepthPrediction:
    lengths = _lengths(points, depth)
    fast, mid, slow = (_step_s(points, depth, of) for of in (max, median, min))
    return DepthPrediction(
        depth=depth, tok_s=lengths.mid / mid, low=lengths.low / slow, high=lengths.high / fast
    )


def _step_s(points: Sequence[DepthPoint], depth: int, of: Callable[[Sequence[float]], float]) -> float:
    """The time of a step at `depth`: a straight line through the measured depths, least squares."""
    times = [(one.mean_length or 1.0) / of(one.tok_s) for one in points]
    at_depth = _line_at([float(one.depth) for one in points], times, depth)
    # A line through noisy times may reach zero far out; no step is shorter than half the shortest one seen.
    return max(at_depth, min(times) / 2)


def _line_at(xs: Sequence[float], ys: Sequence[float], x: float) -> float:
    """Least squares in exact sums: `statistics.linear_regression` rounds by the version."""
    mean_x, mean_y = fmean(xs), fmean(ys)
    spread = math.fsum((one - mean_x) ** 2 for one in xs)
    slope = math.fsum((a - mean_x) * (b - mean_y) for a, b in zip(xs, ys, strict=True)) / spread
    return mean_y + slope * (x - mean_x)


def _lengths(points: Sequence[DepthPoint], depth: int) -> _Bounds:
    """Expected tokens of a step, with the bonus token. Beyond the deepest draft that was run nothing more
    may be accepted, or everything that was accepted so far."""
    shares = _positions(points) or _geometric(points, depth)
    inside, beyond = shares[:depth], max(0, depth - len(shares))
    last = shares[-1]
    tail = last.mid * math.fsum(_going_on(shares) ** n for n in range(1, beyond + 1))
    return _Bounds(
        low=1 + math.fsum(one.low for one in inside),
        mid=1 + math.fsum(one.mid for one in inside) + tail,
        high=1 + math.fsum(one.high for one in inside) + beyond * last.high,
    )


def _going_on(shares: Sequence[_Bounds]) -> float:
    """How much of a position's acceptance the next one keeps, as a geometric mean over those seen."""
    first, last = shares[0].mid, shares[-1].mid
    return last if len(shares) == 1 or not last else (last / first) ** (1 / (len(shares) - 1))


def _positions(points: Sequence[DepthPoint]) -> list[_Bounds] | None:
    """Share of drafts accepted up to each position, over all arms that drafted so far."""
    known = [one.acceptance for one in points if one.acceptance is not None]
    curves = [(one.drafts, one.per_position) for one in known if one.drafts and one.per_position]
    if not curves or len(curves) < len(known):
        return None
    shares = []
    for position in range(max(len(curve) for _, curve in curves)):
        reaching = [(drafts, curve[position]) for drafts, curve in curves if len(curve) > position]
        drafts = sum(count for count, _ in reaching)
        shares.append(_share(round(math.fsum(count * share for count, share in reaching)), drafts))
    return shares


def _share(accepted: int, drafts: int) -> _Bounds:
    interval = wilson_interval(accepted, drafts)
    assert interval.high is not None
    return _Bounds(interval.low, accepted / drafts, interval.high)


def _geometric(points: Sequence[DepthPoint], depth: int) -> list[_Bounds]:
    """Without figures by position: each token accepted with one probability, solved from the totals."""
    known = [(one.acceptance, one.depth) for one in points if one.acceptance is not None and one.depth]
    shares = [_share(each.accepted_tokens, each.draft_tokens) for each, _ in known if each.draft_tokens]
    depths = [of for each, of in known if each.draft_tokens]
    low = min(_chance(share.low * of, of) for share, of in zip(shares, depths, strict=True))
    mid = median(_chance(share.mid * of, of) for share, of in zip(shares, depths, strict=True))
    high = max(_chance(share.high * of, of) for share, of in zip(shares, depths, strict=True))
    return [_Bounds(low**n, mid**n, high**n) for n in range(1, max(depth, 1) + 1)]


def _chance(accepted_per_draft: float, depth: int) -> float:
    """The probability whose powers up to `depth` add up to the accepted tokens, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        enough = math.fsum(middle**n for n in range(1, depth + 1)) >= accepted_per_draft
        low, high = (low, middle) if enough else (middle, high)
    return (low + high) / 2


def _checks(points: Sequence[DepthPoint]) -> Iterator[DepthCheck]:
    for point in points:
        others = [one for one in points if one.depth != point.depth]
        drafted = any(one.depth for one in others)
        if point.depth and drafted and len({one.depth for one in others}) > 1:
            predicted = _predicted(others, point.depth)
            yield DepthCheck(depth=point.depth, predicted=predicted, measured_tok_s=median(point.tok_s))


def _next(rows: Sequence[DepthRow], open_: Sequence[DepthPrediction]) -> tuple[int | None, str]:
    best = max(rows, key=lambda row: row.tok_s)
    seen = f"depth {best.depth} was measured at {best.tok_s:.1f} tok/s"
    if not open_:
        return None, f"{seen}; every depth in reach was run"
    hope = max(open_, key=lambda one: one.tok_s)
    predicted = f"{hope.tok_s:.1f} tok/s ({hope.low:.1f} to {hope.high:.1f})"
    if hope.tok_s <= best.tok_s:
        return (
            None,
            f"{seen}; no other is expected to be faster: depth {hope.depth} comes next, {predicted}",
        )
    return hope.depth, f"{seen}; try depth {hope.depth} next: expected {predicted}"


def _notes(rows: Sequence[DepthRow]) -> Iterator[str]:
    """Neighbouring depths at which the acceptance ratio and the speed move in opposite directions."""
    for one, deeper in pairwise([row for row in rows if row.acceptance_rate is not None]):
        assert one.acceptance_rate is not None
        assert deeper.acceptance_rate is not None
        ratio, speed = deeper.acceptance_rate - one.acceptance_rate, deeper.tok_s - one.tok_s
        if ratio * speed < 0:
            yield (
                f"from depth {one.depth} to {deeper.depth} the acceptance ratio goes from "
                f"{one.acceptance_rate:.1%} to {deeper.acceptance_rate:.1%} and the speed from "
                f"{one.tok_s:.1f} to {deeper.tok_s:.1f} tok/s"
            )
