"""The published two-node experiment through the analysis of our own runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from armgate.analysis.choice import NONE_QUALIFIES
from armgate.campaign.published import compare_published
from armgate.model.published import PublishedComparison

EVIDENCE = Path(__file__).resolve().parents[3] / "shared" / "evidence" / "two-spark-dflash2"


@pytest.fixture(scope="module")
def published() -> PublishedComparison:
    if not EVIDENCE.is_dir():
        pytest.skip("the published evidence is not beside this checkout (../shared/evidence)")
    return compare_published(EVIDENCE)


def test_published_medians_and_ratios_come_out_labelled_as_pooled(published: PublishedComparison) -> None:
    base, deep, shallow = published.pooled
    assert base.median == pytest.approx(15.181243819412654)
    assert deep.ratio == pytest.approx(1.350, abs=5e-4)
    assert shallow.ratio == pytest.approx(1.632, abs=5e-4)
    assert {one.label for one in published.pooled} == {"pooled, as published"}
    assert (base.n, base.kinds) == (4, ("korean", "prose"))


def test_acceptance_follows_from_the_published_totals(published: PublishedComparison) -> None:
    _, deep, shallow = published.comparison.arms
    for arm, rate, length in ((deep, 0.248, 2.736), (shallow, 0.508, 2.524)):
        assert arm.acceptance is not None
        assert arm.acceptance.rate.value == pytest.approx(rate, abs=5e-4)
        assert arm.acceptance.mean_length.value == pytest.approx(length, abs=5e-4)


def test_medians_stand_by_kind_and_carry_no_interval(published: PublishedComparison) -> None:
    for arm in published.comparison.arms:
        assert [(s.n, s.prompts, s.interval) for s in arm.summaries] == [(2, 1, None)] * 2
        claims = [one.claim for versus in arm.versus for one in versus.contrasts]
        assert set(claims) <= {"insufficient_evidence"}
    medians = {s.kind: s.median for s in published.comparison.arms[1].summaries}
    assert medians == {"prose": pytest.approx(24.0187, abs=1e-3), "korean": pytest.approx(19.5034, abs=1e-3)}
    assert "2 prompts of 2 kinds" in published.limits[0]
    assert "this data supports no interval" in published.limits[0]


def test_the_baseline_does_not_repeat_itself(published: PublishedComparison) -> None:
    prose, korean = (one for one in published.controls if one.variant == "baseline")
    assert prose.completion_tokens == (4356, 10853)
    assert prose.pair is None
    assert not prose.repeated_itself
    assert korean.pair is not None
    assert korean.pair.divergence is not None
    assert (korean.pair.level, korean.pair.common_prefix) == ("text", 148)
    assert korean.pair.divergence.arm_text.startswith("질문을 던지며")
    assert any(limit.startswith("A/A failed: baseline") for limit in published.limits)


def test_none_qualifies_and_the_fastest_is_no_candidate(published: PublishedComparison) -> None:
    choice = published.comparison.choice
    assert (choice.status, choice.winner, choice.ranking) == ("none_qualifies", None, ())
    assert choice.statement == NONE_QUALIFIES
    assert choice.fastest == "dflash2-3"
    assert published.comparison.arms[1].reasons[0].startswith("code: ")
