"""Statistics with their rules for n: nothing here returns an interval or a test that n cannot carry."""

from __future__ import annotations

import math
from collections.abc import Sequence

from armgate.model.intervals import LEVEL
from armgate.model.measures import Interval

ALPHA = 1 - LEVEL
"""The declared rate of false claims, of each claim by itself."""
MINIMUM_PAIRS = 6
"""The fewest pairs on which an exact two-sided paired test can reach 5%: 2/2^6 = 3.1%."""
MINIMUM_FOR_INTERVAL = 6
"""The fewest values whose range covers the median with 95%: 1 - 2/2^6 = 96.9%."""


def bootstrap_interval(values: Sequence[float], level: float = LEVEL) -> Interval | None:
    """Percentile bootstrap of the median; `None` below `MINIMUM_FOR_INTERVAL` values.

    The bootstrap's distribution of a median is known without drawing from it (Efron 1979, section 3): of n
    draws at least m are among the k smallest values with a binomial probability. Of an even n the lower
    middle value bounds the interval below and the upper one above, which can only widen it.
    """
    n = len(values)
    if n < MINIMUM_FOR_INTERVAL:
        return None
    # Importing scipy.stats takes most of a second, and most commands compute no statistic.
    from scipy.stats import binom  # noqa: PLC0415

    ordered, tail = sorted(values), (1 - level) / 2
    shares = [k / n for k in range(1, n + 1)]
    lower_middle = binom.sf((n + 1) // 2 - 1, n, shares)
    upper_middle = binom.sf(n // 2, n, shares)
    low = next(k for k, reached in enumerate(lower_middle) if reached > tail)
    high = next(k for k, reached in enumerate(upper_middle) if reached >= 1 - tail)
    method = "percentile bootstrap of the median, exact over all resamples"
    return Interval(low=ordered[low], high=ordered[high], level=level, method=method)


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
    """Two-sided exact rank-sum p-value of two independent groups; 1 where one is empty."""
    if not ours or not theirs:
        return 1.0
    from scipy.stats import mannwhitneyu  # noqa: PLC0415 - as above

    exact = len({*ours, *theirs}) == len(ours) + len(theirs)
    return float(mannwhitneyu(ours, theirs, method="exact" if exact else "asymptotic").pvalue)


def geometric_mean(values: Sequence[float]) -> float:
    """Of positive values; at least one."""
    return math.exp(sum(map(math.log, values)) / len(values))
