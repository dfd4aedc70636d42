from __future__ import annotations

import pytest

from armgate.analysis.depths import DepthHits, DepthRates, retrieval_step, speedup_by_depth


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


ROWS = [DepthHits(2000, 10, 10), DepthHits(8000, 10, 10), DepthHits(8400, 1, 10), DepthHits(16000, 0, 10)]


def test_a_break_at_the_chunk_size_is_told_as_one() -> None:
    step = retrieval_step(ROWS, 8192)
    assert step is not None
    assert (step.last_good_tokens, step.first_bad_tokens, step.at_chunk_boundary) == (8000, 8400, True)


@pytest.mark.parametrize("chunk", [None, 4096, 8400, 9000])
def test_a_break_elsewhere_is_not_put_down_to_the_chunk(chunk: int | None) -> None:
    step = retrieval_step(ROWS, chunk)
    assert step is not None
    assert not step.at_chunk_boundary


def test_no_break_is_no_step() -> None:
    assert retrieval_step(ROWS[:2], 8192) is None
    assert retrieval_step(ROWS[2:], 8192) is None
    assert retrieval_step([], 8192) is None
    recovered = [DepthHits(1, 10, 10), DepthHits(2, 0, 10), DepthHits(3, 10, 10)]
    assert retrieval_step(recovered, None) is None
