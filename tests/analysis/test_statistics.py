from __future__ import annotations

import random
from statistics import median

import pytest

from armgate.analysis.statistics import (
    MINIMUM_FOR_INTERVAL,
    MINIMUM_PAIRS,
    bootstrap_interval,
    geometric_mean,
    signed_rank_p,
)


def test_the_bootstrap_is_repeatable_and_names_its_method() -> None:
    values = [15.1, 15.3, 14.9, 15.6, 15.2, 15.0, 15.4]
    one, again = bootstrap_interval(values), bootstrap_interval(values)
    assert one is not None
    assert one == again
    assert one.high is not None
    assert min(values) <= one.low <= median(values) <= one.high <= max(values)
    assert one.method == "percentile bootstrap of the median, exact over all resamples"
    assert one.level == 0.95


def test_a_few_values_have_no_interval() -> None:
    assert bootstrap_interval([1.0] * (MINIMUM_FOR_INTERVAL - 1)) is None
    assert bootstrap_interval([1.0] * MINIMUM_FOR_INTERVAL) is not None


def test_the_bootstrap_covers_a_known_median() -> None:
    chance, covered = random.Random(5), 0
    for _ in range(150):
        found = bootstrap_interval([chance.gauss(10, 1) for _ in range(20)])
        assert found is not None
        assert found.high is not None
        covered += found.low <= 10 <= found.high
    assert 0.88 * 150 <= covered < 150


def test_the_signed_rank_test_keeps_its_minimum() -> None:
    assert signed_rank_p([0.1] * (MINIMUM_PAIRS - 1)) is None
    found = signed_rank_p([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    assert found == pytest.approx(2 / 2**6)
    assert signed_rank_p([0.0] * 8) == 1.0


def test_the_signed_rank_test_is_rarely_wrong_without_an_effect() -> None:
    chance, claims = random.Random(11), 0
    for _ in range(400):
        p_value = signed_rank_p([chance.gauss(0, 1) for _ in range(9)])
        claims += p_value is not None and p_value <= 0.05
    assert claims <= 0.075 * 400


def test_the_geometric_mean_of_ratios() -> None:
    assert geometric_mean([2.0, 0.5]) == pytest.approx(1.0)
    assert geometric_mean([3.0]) == pytest.approx(3.0)
