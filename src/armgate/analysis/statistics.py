"""Statistics with their rules for n: nothing here returns an interval or a test that n cannot carry."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from statistics import median

from armgate.model.measures import Interval

LEVEL = 0.95
MINIMUM_PAIRS = 6
"""The fewest pairs on which an exact two-sided signed-rank test can reach 5%: 2/2^6 = 3.1%."""
MINIMUM_FOR_INTERVAL = 6
"""The fewest values whose range covers the median with 95%: 1 - 2/2^6 = 96.9%."""
RESAMPLES = 2000


def bootstrap_interval(values: Sequence[float], seed: int = 37, level: float = LEVEL) -> Interval | None:
    """Percentile bootstrap of the median; `None` below `MINIMUM_FOR_INTERVAL` values.

    The same seed and values give the same interval.
    """
    if len(values) < MINIMUM_FOR_INTERVAL:
        return None
    chance = random.Random(seed)  # noqa: S311 - repeatable, not secret
    medians = sorted(median(chance.choices(values, k=len(values))) for _ in range(RESAMPLES))
    tail = (1 - level) / 2
    low, high = medians[math.floor(tail * RESAMPLES)], medians[math.ceil((1 - tail) * RESAMPLES) - 1]
    method = f"percentile bootstrap of the median, {RESAMPLES} resamples, seed {seed}"
    return Interval(low=low, high=high, level=level, method=method)


def signed_rank_p(differences: Sequence[float]) -> float | None:
    """Two-sided Wilcoxon signed-rank p-value of paired differences; `None` below `MINIMUM_PAIRS`.

    Pairs without a difference are kept in n for that rule and carry no rank.
    """
    if len(differences) < MINIMUM_PAIRS:
        return None
    if not any(differences):
        return 1.0
    # Importing scipy.stats takes most of a second, and most commands compute no statistic.
    from scipy.stats import wilcoxon  # noqa: PLC0415

    return float(wilcoxon(differences, zero_method="pratt", method="auto").pvalue)


def geometric_mean(values: Sequence[float]) -> float:
    """Of positive values; at least one."""
    return math.exp(sum(map(math.log, values)) / len(values))
