"""Intervals for counts, each by a named method with a coverage; scipy is imported where one is computed."""

from __future__ import annotations

from armgate.model.measures import Interval

LEVEL = 0.95


def poisson_interval(events: int, exposure: float) -> Interval:
    """Garwood's exact interval for a Poisson rate: chi-square quantiles over twice the exposure."""
    # Importing scipy.stats takes most of a second, and most commands compute no interval.
    from scipy.stats import chi2  # noqa: PLC0415

    tail = (1 - LEVEL) / 2
    low = float(chi2.ppf(tail, 2 * events)) / (2 * exposure) if events else 0.0
    high = float(chi2.ppf(1 - tail, 2 * (events + 1))) / (2 * exposure)
    return Interval(low=low, high=high, level=LEVEL, method="Garwood, exact Poisson")


def wilson_interval(successes: int, n: int) -> Interval:
    """Wilson's score interval for a share of `n` independent trials; `n` is at least 1."""
    from scipy.stats import binomtest  # noqa: PLC0415 - as above

    found = binomtest(successes, n).proportion_ci(confidence_level=LEVEL, method="wilson")
    return Interval(low=float(found.low), high=float(found.high), level=LEVEL, method="Wilson")
