from __future__ import annotations

import pytest

from armgate.analysis.choice import NONE_QUALIFIES, settled
from armgate.analysis.comparison import compare_arms, pooled_as_published, summaries
from armgate.analysis.floors import noise_floors
from armgate.model.comparison import (
    ArmFigures,
    Choice,
    Claim,
    Comparison,
    Contrast,
    Figure,
    FinalBoot,
    PassFail,
)
from armgate.model.outcome import ArmVerdict
from armgate.model.quality import OutcomeCounts

METRIC = "decode_wall"


def figures(values: dict[str, list[float]], kind: str = "prose", metric: str = METRIC) -> tuple[Figure, ...]:
    return tuple(Figure(metric=metric, kind=kind, prompt=p, value=v) for p, vs in values.items() for v in vs)


def measured(
    name: str, *groups: tuple[Figure, ...], verdict: ArmVerdict = ArmVerdict.ACCEPTED, why: str = ""
) -> ArmFigures:
    return ArmFigures(
        name=name, arm=None, arm_verdict=verdict, reasons=(why,) if why else (), figures=sum(groups, ())
    )


def steady(factor: float, prompts: int = 8, spread: float = 0.01) -> dict[str, list[float]]:
    """Prompts of unlike speed, each twice, the second run apart from the first by `spread`."""
    return {f"p{n}": [factor * (20 + n), factor * (20 + n) * (1 + spread)] for n in range(prompts)}


def first_contrast(found: Comparison, name: str) -> Contrast:
    return next(arm for arm in found.arms if arm.name == name).versus[0].contrasts[0]


def test_medians_come_with_range_n_and_prompts_by_kind() -> None:
    arm = measured("a", figures({"x": [10.0, 12.0], "y": [11.0]}), figures({"k": [5.0]}, kind="korean"))
    prose, korean = summaries(arm)
    assert (prose.kind, prose.n, prose.prompts, prose.boots) == ("prose", 3, 2, 1)
    assert (prose.median, prose.low, prose.high) == (11.0, 10.0, 12.0)
    assert (korean.kind, korean.n, korean.median) == ("korean", 1, 5.0)
    assert korean.interval is None
    assert korean.interval_absent == "insufficient evidence: 1 prompts of this kind, 6 are the minimum"


def test_repeats_of_a_prompt_are_not_independent_values() -> None:
    (two_prompts,) = summaries(measured("a", figures({"x": [1.0, 2.0, 3.0, 4.0], "y": [1.0, 2.0, 3.0, 4.0]})))
    assert two_prompts.interval is None
    assert two_prompts.interval_absent is not None
    assert two_prompts.interval_absent.startswith("insufficient evidence: 2 ")
    (eight,) = summaries(measured("a", figures(steady(1.0))))
    assert eight.interval is not None


def test_the_noise_floor_is_the_widest_repeat_of_one_prompt() -> None:
    reference = measured("a", figures({"x": [10.0, 10.5], "y": [20.0, 20.2], "z": [5.0]}))
    (floor,) = noise_floors(reference)
    assert (floor.repeated_prompts, floor.relative) == (2, pytest.approx(0.05))
    (none,) = noise_floors(measured("a", figures({"x": [10.0], "y": [99.0]})))
    assert none.relative is None
    assert none.absent == "no control: the reference repeated no prompt of this kind"


@pytest.mark.parametrize(
    ("factor", "prompts", "spread", "claim", "why"),
    [
        (1.35, 8, 0.01, "different", "beyond the reference's own spread"),
        (0.80, 8, 0.01, "different", "beyond the reference's own spread"),
        (1.02, 8, 0.05, "not_different", "within the reference's own spread of 5.0%"),
        (1.35, 5, 0.01, "insufficient_evidence", "5 prompts in common, 6 are the minimum"),
        (1.35, 8, 0.00, "different", "beyond the reference's own spread of 0.0%"),
    ],
)
def test_an_arm_is_called_different_only_beyond_the_floor(
    factor: float, prompts: int, spread: float, claim: Claim, why: str
) -> None:
    base = measured("base", figures(steady(1.0, prompts, spread)))
    arm = measured("arm", figures(steady(factor, prompts, spread)))
    found = first_contrast(compare_arms([base, arm], "base", METRIC), "arm")
    assert found.claim == claim
    assert why in found.why
    assert found.ratio == pytest.approx(factor)
    assert found.pairs == prompts


def test_without_a_control_nothing_is_attributed() -> None:
    base = measured("base", figures({f"p{n}": [20.0 + n] for n in range(8)}))
    arm = measured("arm", figures({f"p{n}": [40.0 + 2 * n] for n in range(8)}))
    found = compare_arms([base, arm], "base", METRIC)
    assert first_contrast(found, "arm").claim == "insufficient_evidence"
    assert "cannot be attributed" in first_contrast(found, "arm").why
    assert any("no control" in limit for limit in found.limits)


def test_prompts_that_only_one_arm_answered_make_no_pairs() -> None:
    base = measured("base", figures(steady(1.0)))
    arm = measured("arm", figures({f"q{n}": [30.0] for n in range(8)}))
    found = first_contrast(compare_arms([base, arm], "base", METRIC), "arm")
    assert (found.pairs, found.claim) == (0, "insufficient_evidence")


def test_an_effect_that_varies_by_prompt_is_not_claimed() -> None:
    ups_and_downs = {
        p: [v * (1.3 if n % 2 else 0.77) for v in vs] for n, (p, vs) in enumerate(steady(1.0).items())
    }
    base, arm = measured("base", figures(steady(1.0))), measured("arm", figures(ups_and_downs))
    assert first_contrast(compare_arms([base, arm], "base", METRIC), "arm").claim == "not_different"


def test_a_median_beyond_the_floor_is_not_enough_without_the_test() -> None:
    factors = [1.3, 1.3, 0.6, 1.3, 0.6, 1.3, 0.6, 1.3]
    lopsided = {p: [v * f for v in vs] for f, (p, vs) in zip(factors, steady(1.0).items(), strict=True)}
    base, arm = measured("base", figures(steady(1.0))), measured("arm", figures(lopsided))
    found = first_contrast(compare_arms([base, arm], "base", METRIC), "arm")
    assert found.p_value is not None
    assert found.p_value > 0.05
    assert (found.claim, found.why) == ("not_different", f"p = {found.p_value:.3g}")


def test_nothing_is_claimed_where_medians_and_pairs_point_apart() -> None:
    repeated = steady(1.3)
    repeated["p0"] = [26.0] * 40
    base, arm = measured("base", figures(steady(1.0))), measured("arm", figures(repeated))
    fast_base = measured("base", (*base.figures, *figures({"only-here": [90.0] * 40})))
    found = first_contrast(compare_arms([fast_base, arm], "base", METRIC), "arm")
    assert found.ratio < 1
    assert (found.claim, found.p_value) == ("not_different", pytest.approx(2 / 2**8))
    assert "opposite directions" in found.why


def choice_of(*arms: ArmFigures, higher_is_better: bool = True) -> tuple[str, str | None, str]:
    found = compare_arms(arms, "base", METRIC, higher_is_better).choice
    return found.status, found.winner, found.statement


BASE = measured("base", figures(steady(1.0)))
FAST = measured("fast", figures(steady(1.6)))
FASTEST_REJECTED = measured(
    "loop", figures(steady(3.0)), verdict=ArmVerdict.REJECTED, why="no_degeneration failed"
)


def test_the_fastest_arm_cannot_win_when_it_is_rejected_and_stays_in_the_table_with_its_reason() -> None:
    found = compare_arms([BASE, FAST, FASTEST_REJECTED], "base", METRIC)
    assert (found.choice.status, found.choice.winner, found.choice.fastest) == ("winner", "fast", "loop")
    assert found.choice.statement.endswith("too few boots to tell the arms from single starts of them")
    assert [place.name for place in found.choice.ranking] == ["fast", "base"]
    assert found.choice.ranking[0].score == pytest.approx(1.6)
    rejected = found.arms[2]
    assert (rejected.qualified, rejected.reasons) == (False, ("no_degeneration failed",))
    assert rejected.summaries[0].median > found.arms[1].summaries[0].median


def test_no_winner_where_none_qualifies() -> None:
    rejected = [one.model_copy(update={"arm_verdict": ArmVerdict.REJECTED}) for one in (BASE, FAST)]
    found = compare_arms(rejected, "base", METRIC).choice
    assert (found.status, found.winner, found.ranking) == ("none_qualifies", None, ())
    assert found.statement == NONE_QUALIFIES == "no winner: reference retained, unqualified"
    assert found.fastest == "fast"


def test_ties_are_said_to_be_ties() -> None:
    near = measured("near", figures(steady(1.004)))
    found = compare_arms([BASE, near], "base", METRIC).choice
    assert (found.status, found.winner, found.tied) == ("tie", None, ("near", "base"))


def test_too_few_prompts_choose_nobody() -> None:
    few = [
        measured(name, figures(steady(factor, prompts=3))) for name, factor in (("base", 1.0), ("fast", 2.0))
    ]
    assert choice_of(*few) == ("insufficient_evidence", None, "too little to tell fast from base")


def test_the_only_qualified_arm_wins_without_a_race() -> None:
    assert choice_of(BASE, FASTEST_REJECTED)[:2] == ("winner", "base")


def test_an_arm_without_the_metric_cannot_be_ranked() -> None:
    silent = measured("silent", figures(steady(1.0), metric="end_to_end"))
    assert choice_of(BASE, silent) == ("insufficient_evidence", None, "no decode_wall to compare for silent")


def test_a_lower_value_may_be_the_better_one() -> None:
    assert choice_of(BASE, FAST, higher_is_better=False)[:2] == ("winner", "base")


def test_an_arm_that_leads_on_one_kind_and_trails_on_another_does_not_win() -> None:
    base = measured("base", figures(steady(1.0)), figures(steady(1.0), kind="code"))
    mixed = measured("mixed", figures(steady(0.9)), figures(steady(2.0), kind="code"))
    assert choice_of(base, mixed)[0] == "tie"


def test_the_reference_must_be_there() -> None:
    with pytest.raises(ValueError, match="'base' is not among the arms"):
        compare_arms([FAST], "base", METRIC)


def test_pooled_medians_are_labelled_and_carry_no_interval() -> None:
    base = measured("base", figures({"a": [10.0, 12.0]}), figures({"b": [20.0, 22.0]}, kind="code"))
    arm = measured("arm", figures({"a": [16.0]}))
    first, second = pooled_as_published([base, arm], "base", METRIC)
    assert (first.label, first.median, first.n, first.kinds) == (
        "pooled, as published",
        16.0,
        4,
        ("code", "prose"),
    )
    assert second.ratio == 1.0
    assert "pooled over unlike prompts" in first.interval_absent


def test_an_arm_is_also_compared_with_the_arm_it_is_judged_against() -> None:
    other = measured("other", figures(steady(0.5)))
    arm = measured("arm", figures(steady(0.6))).model_copy(update={"reference": "other"})
    found = compare_arms([BASE, other, arm], "base", METRIC)
    assert [versus.reference for versus in found.arms[2].versus] == ["base", "other"]
    assert found.arms[2].versus[1].contrasts[0].ratio == pytest.approx(1.2)
    assert found.arms[0].versus == ()


def test_a_score_has_an_interval_where_every_kind_has_enough_prompts() -> None:
    fast = {p: [v * (1.4 + 0.05 * n) for v in vs] for n, (p, vs) in enumerate(steady(1.0).items())}
    base = measured("base", figures(steady(1.0)), figures(steady(1.0), kind="code"))
    arm = measured("arm", figures(fast), figures(fast, kind="code"))
    first, second = compare_arms([base, arm], "base", METRIC).choice.ranking
    assert first.interval is not None
    assert first.interval.high is not None
    assert 1.4 <= first.interval.low < first.score < first.interval.high <= 1.8
    assert "Bonferroni" in first.interval.method
    assert second.interval is None
    few = measured("arm", figures(fast), figures({"p0": [30.0]}, kind="code"))
    assert compare_arms([base, few], "base", METRIC).choice.ranking[0].interval is None


def test_verdicts_without_a_control_are_named_as_not_attributable() -> None:
    one = PassFail(gate="json", kind="json", prompt="p", sample="p.0", passed=True)
    base = measured("base", figures(steady(1.0))).model_copy(update={"passes": (one,)})
    found = compare_arms([base], "base", METRIC)
    assert any("no control ran for the verdicts of json" in limit for limit in found.limits)


@pytest.mark.parametrize(
    ("qualified", "ends"), [(True, "reference retained"), (False, "retained, unqualified")]
)
def test_where_the_final_boot_did_not_hold_the_reference_is_called_what_it_is(
    qualified: bool, ends: str
) -> None:
    chosen = Choice(status="winner", metric=METRIC, winner="arm", statement="arm is better", ranking=())
    final = FinalBoot(state="did_not_hold", arm="arm", boot=1, counts=OutcomeCounts(planned=0))
    found = settled(chosen, final, qualified)
    assert (found.status, found.winner) == ("none_qualifies", None)
    assert found.statement.endswith(ends)
