from __future__ import annotations

import pytest

from armgate.judging.heatmap import DepthHits, retrieval_step

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
