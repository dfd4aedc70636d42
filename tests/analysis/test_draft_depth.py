from __future__ import annotations

import pytest

from armgate.analysis.draft_depth import DepthPoint, advise
from armgate.model.draft_depth import DepthAdvice
from armgate.model.measures import Acceptance, Measure

STEP_S, TOKEN_S = 0.040, 0.004
"""A step's fixed time, and what each draft token adds to it."""
CHANCE = 0.8
"""Of each draft token to be accepted after the one before it."""


def accepted(depth: int, drafts: int = 10_000, per_position: bool = True) -> Acceptance:
    shares = tuple(CHANCE**n for n in range(1, depth + 1))
    total = round(sum(shares) * drafts)

    def figure(value: float) -> Measure:
        return Measure(name="m", formula="f", unit="u", n=drafts, value=value)

    return Acceptance(
        source="counters",
        drafts=drafts,
        draft_tokens=depth * drafts,
        accepted_tokens=total,
        rate=figure(total / (depth * drafts)),
        mean_accepted=figure(total / drafts),
        mean_length=figure(1 + total / drafts),
        per_position=shares if per_position else None,
    )


def true_rate(depth: int) -> float:
    return (1 + sum(CHANCE**n for n in range(1, depth + 1))) / (STEP_S + TOKEN_S * depth)


def point(depth: int, spread: float = 0.0, **fields: bool) -> DepthPoint:
    rate = true_rate(depth)
    rates = (rate * (1 - spread), rate, rate * (1 + spread))
    return DepthPoint(f"depth-{depth}", depth, rates, accepted(depth, **fields) if depth else None)


def advice(*points: DepthPoint) -> DepthAdvice:
    found = advise("base", "copy", points)
    assert found is not None
    return found


@pytest.mark.parametrize("per_position", [True, False])
def test_rates_of_depths_that_were_not_run_are_foretold(per_position: bool) -> None:
    found = advice(point(0), point(3, per_position=per_position), point(7, per_position=per_position))
    expected = {one.depth: one for one in found.predictions}
    assert max(expected) == 14
    for depth in (1, 5, 9, 12):
        assert expected[depth].tok_s == pytest.approx(true_rate(depth), rel=0.01)
        assert expected[depth].low <= true_rate(depth) <= expected[depth].high


def test_the_depth_to_try_next_is_the_best_one_that_was_not_run() -> None:
    best = max(range(1, 15), key=true_rate)
    found = advice(point(0), point(1), point(3))
    assert found.try_next == max((d for d in range(1, 7) if d != 3), key=true_rate)
    assert f"try depth {found.try_next} next" in found.statement
    settled = advice(point(0), point(best - 2), point(best))
    assert settled.try_next is None
    assert "no other is expected to be faster" in settled.statement


def test_each_prediction_is_set_beside_what_was_measured() -> None:
    found = advice(point(0, 0.02), point(3, 0.02), point(7, 0.02))
    assert [check.depth for check in found.checks] == [3, 7]
    assert all(check.within for check in found.checks)
    assert found.checks[0].predicted.tok_s == pytest.approx(true_rate(3), rel=0.01)
    slow = point(7)._replace(tok_s=(10.0,))
    assert not advice(point(0), point(3), slow).checks[1].within


def test_noise_widens_what_is_left_open() -> None:
    quiet, loud = (advice(point(0, s), point(3, s), point(7, s)) for s in (0.01, 0.10))
    widths = [found.predictions[4].high - found.predictions[4].low for found in (quiet, loud)]
    assert widths[1] > 2 * widths[0]
    assert "no confidence interval" in quiet.range_is


def test_ratio_and_speed_are_two_things() -> None:
    found = advice(point(0), point(3), point(7))
    low, high = found.rows[1], found.rows[2]
    assert (low.acceptance_rate or 0) > (high.acceptance_rate or 1)
    assert low.tok_s < high.tok_s
    assert found.notes[0].startswith("from depth 3 to 7 the acceptance ratio goes from 65.1% to 45.2%")
    assert found.rows[0].mean_length == 1.0
    assert high.step_s == pytest.approx(STEP_S + 7 * TOKEN_S, rel=0.01)


def test_one_depth_gives_no_advice() -> None:
    assert advise("base", "copy", [point(0)]) is None
    assert advise("base", "copy", [point(3), point(3)]) is None
    assert advise("base", "copy", [point(0), point(3)._replace(acceptance=None)]) is None
