"""Statistics with their rules for n: nothing here returns an interval or a test that n cannot carry."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import combinations

from armgate.model.intervals import LEVEL
from armgate.model.measures import Interval

ALPHA = 1 - LEVEL
"""The declared rate of false claims, of each claim by itself."""
MINIMUM_PAIRS = 6
"""The fewest pairs on which an exact two-sided paired test can reach 5%: 2/2^6 = 3.1%."""
MINIMUM_FOR_INTERVAL = 6
"""The fewest values whose range covers the median with 95%: 1 - 2/2^6 = 96.9%."""


EXACT_UP_TO = 100_000
"""The most ways of parting two groups that a test with ties goes through one by one."""
WIDER = "wider of order statistics and percentile bootstrap"
"""What an interval of a median is. Of few values the bootstrap alone covers 87% to 93% where 95% is asked."""


def median_interval(values: Sequence[float], level: float = LEVEL) -> Interval | None:
    """Of the median, without an assumption on how the values are spread; `None` where n cannot carry `level`.

    The wider of two: the order statistics between which the median lies with at least `level` (David and
    Nagaraja, Order Statistics, section 7.1), and the percentile bootstrap. The bootstrap's distribution of a
    median is known without drawing from it (Efron 1979, section 3): of n draws at least m are among the k
    smallest values with a binomial probability. Of an even n the lower middle value bounds the interval
    below and the upper one above, which can only widen it.
    """
    n = len(values)
    # Importing scipy.stats takes most of a second, and most commands compute no statistic.
    from scipy.stats import binom  # noqa: PLC0415

    ordered, tail = sorted(values), (1 - level) / 2
    within = int(binom.ppf(tail, n, 0.5)) if n else 0
    if within < 1:
        return None
    shares = [k / n for k in range(1, n + 1)]
    lower_middle = binom.sf((n + 1) // 2 - 1, n, shares)
    upper_middle = binom.sf(n // 2, n, shares)
    low = next(k for k, reached in enumerate(lower_middle) if reached > tail)
    high = next(k for k, reached in enumerate(upper_middle) if reached >= 1 - tail)
    low, high = min(low, within - 1), max(high, n - within)
    return Interval(low=ordered[low], high=ordered[high], level=level, method=f"{WIDER} of the median")


def signed_rank_p(differences: Sequence[float]) -> float | None:
    """Two-sided Wilcoxon signed-rank p-value of paired differences; `None` below `MINIMUM_PAIRS`.

    Pairs without a difference are kept in n for that rule and carry no rank.
    """
    if len(differences) < MINIMUM_PAIRS:
        return None
    if not any(differences):
        return 1.0
    from scipy.stats import wilcoxon  # noqa: PLC0415 - as above

    return float(wilcoxon(differences, zero_method="pratt", method="auto").pvalue)


def mcnemar_p(only_ours: int, only_theirs: int) -> float:
    """Exact two-sided McNemar p-value from the pairs of which one side alone passed."""
    if not only_ours + only_theirs:
        return 1.0
    from scipy.stats import binomtest  # noqa: PLC0415 - as above

    return float(binomtest(only_ours, only_ours + only_theirs, 0.5).pvalue)


def rates_p(events: int, exposure: float, other_events: int, other_exposure: float) -> float:
    """Two-sided conditional p-value that two Poisson rates are equal; both exposures are positive."""
    if not events + other_events:
        return 1.0
    from scipy.stats import binomtest  # noqa: PLC0415 - as above

    share = exposure / (exposure + other_exposure)
    return float(binomtest(events, events + other_events, share).pvalue)


def rank_sum_p(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Two-sided rank-sum p-value of two independent groups; 1 where one is empty. Exact, except of values
    with ties that can be parted in more than `EXACT_UP_TO` ways."""
    if not ours or not theirs:
        return 1.0
    from scipy.stats import mannwhitneyu  # noqa: PLC0415 - as above

    values = [*ours, *theirs]
    if len(set(values)) < len(values) and math.comb(len(values), len(ours)) <= EXACT_UP_TO:
        return _tied_rank_sum_p(values, len(ours))
    exact = len(set(values)) == len(values)
    return float(mannwhitneyu(ours, theirs, method="exact" if exact else "asymptotic").pvalue)


def _tied_rank_sum_p(values: Sequence[float], ours: int) -> float:
    """The share of all ways to choose `ours` of the values whose rank sum lies as far from its mean as that
    of the first ones. Tied values share their middle rank, which twice over is a whole number."""
    ordered = sorted(values)
    doubled = [bisect_left(ordered, v) + bisect_right(ordered, v) + 1 for v in values]
    mean = ours * (len(values) + 1)
    seen = abs(sum(doubled[:ours]) - mean)
    sums = [sum(ranks) for ranks in combinations(doubled, ours)]
    return sum(abs(one - mean) >= seen for one in sums) / len(sums)


def geometric_mean(values: Sequence[float]) -> float:
    """Of positive values; at least one."""
    return math.exp(sum(map(math.log, values)) / len(values))
