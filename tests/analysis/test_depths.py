from __future__ import annotations

import pytest

from armgate.analysis.depths import DepthRates, speedup_by_depth


def test_each_depth_decides_by_itself_whatever_the_mean_says() -> None:
    table = speedup_by_depth(
        [
            DepthRates(131072, 16.0, 10.0, 1.1),
            DepthRates(1024, 30.0, 66.0, 3.4),
            DepthRates(65536, 22.0, 20.9, 1.5),
            DepthRates(16384, 28.0, 42.0, 2.4),
        ]
    )
    assert [row.speedup for row in table.rows] == pytest.approx([2.2, 1.5, 0.95, 0.625])
    assert table.mean_speedup == pytest.approx(1.31875)
    assert table.slower_at == (65536, 131072)
    assert table.length_falls


def test_a_length_that_holds_does_not_fall() -> None:
    assert not speedup_by_depth([DepthRates(1, 1.0, 2.0, 2.0), DepthRates(2, 1.0, 2.0, 2.0)]).length_falls
    assert not speedup_by_depth([DepthRates(1, 1.0, 2.0)]).length_falls
