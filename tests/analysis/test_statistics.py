from __future__ import annotations

import math
import random
from statistics import median

import pytest

from armgate.analysis.statistics import (
    MINIMUM_FOR_INTERVAL,
    MINIMUM_PAIRS,
    geometric_mean,
    median_interval,
    rank_sum_p,
    signed_rank_p,
)


def test_the_interval_is_repeatable_and_names_its_method() -> None:
    values = [15.1, 15.3, 14.9, 15.6, 15.2, 15.0, 15.4]
    one, again = median_interval(values), median_interval(values)
    assert one is not None
    assert one == again
    assert one.high is not None
    assert min(values) <= one.low <= median(values) <= one.high <= max(values)
    assert one.method == "wider of order statistics and percentile bootstrap of the median"
    assert one.level == 0.95


def test_a_few_values_have_no_interval() -> None:
    assert median_interval([1.0] * (MINIMUM_FOR_INTERVAL - 1)) is None
    assert median_interval([1.0] * MINIMUM_FOR_INTERVAL) is not None
    assert median_interval([1.0] * MINIMUM_FOR_INTERVAL, level=0.975) is None
    assert median_interval([]) is None


def test_the_interval_is_at_least_that_of_the_order_statistics() -> None:
    """The sign test's tables: of 10 values the second smallest and largest, of 17 the fifth."""
    for n, within in ((6, 1), (8, 1), (9, 2), (10, 2), (17, 5), (20, 6)):
        found = median_interval([float(value) for value in range(1, n + 1)])
        assert found is not None
        assert found.high is not None
        assert found.low <= within
        assert found.high >= n + 1 - within


@pytest.mark.parametrize("n", [6, 9, 12, 20])
def test_the_interval_covers_a_known_median_as_often_as_it_says(n: int) -> None:
    chance, covered = random.Random(5), 0
    for _ in range(400):
        found = median_interval([chance.lognormvariate(0, 1) for _ in range(n)])
        assert found is not None
        assert found.high is not None
        covered += found.low <= 1 <= found.high
    assert covered >= 0.945 * 400


def test_the_rank_sum_test_is_exact_with_ties() -> None:
    assert rank_sum_p([1, 1, 1], [0, 0, 0]) == pytest.approx(2 / math.comb(6, 3))
    assert rank_sum_p([1, 1, 1, 1], [0, 0, 0, 0]) == pytest.approx(2 / math.comb(8, 4))
    assert rank_sum_p([1, 0], [0, 1]) == 1.0
    assert rank_sum_p([4, 5, 6], [1, 2, 3]) == pytest.approx(2 / math.comb(6, 3))


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
