"""Campaigns with planted effects: what is not there is rarely claimed, what is there is found."""

from __future__ import annotations

from armgate.analysis.statistics import ALPHA
from support.simulated import World, simulate


def test_over_a_thousand_campaigns_without_an_effect_false_claims_stay_at_what_is_declared() -> None:
    found = simulate(World(), range(1000))
    for tally in (found.speed, found.verdicts, found.divergence):
        assert tally.looked_at >= 1000
        assert tally.share <= ALPHA
    assert found.winners <= ALPHA * found.campaigns


def test_more_boots_on_one_side_are_no_difference() -> None:
    for world in (World(boots=4, arm_boots=1), World(boots=1, arm_boots=4)):
        assert simulate(world, range(150)).verdicts.share <= ALPHA


def test_a_boot_is_not_taken_for_the_arm() -> None:
    once = simulate(World(boot_spread=0.2), range(60))
    assert once.speed.different > 0
    assert once.speed.of_the_arm == 0
    four_times = simulate(World(boot_spread=0.2, boots=4, prompts=6), range(150))
    assert four_times.speed.share_of_the_arm <= ALPHA


def test_planted_effects_are_found() -> None:
    assert simulate(World(effect=1.2), range(40)).speed.share >= 0.95
    assert simulate(World(effect=1.1), range(40)).speed.share >= 0.5
    assert simulate(World(pass_drop=0.6), range(40)).verdicts.share >= 0.5
    assert simulate(World(arm_divergences_per_1000=12.0), range(40)).divergence.share >= 0.7


def test_with_enough_boots_the_arm_itself_is_named() -> None:
    found = simulate(World(effect=1.2, boot_spread=0.03, boots=4, prompts=6), range(30))
    assert found.speed.share_of_the_arm >= 0.8
