from __future__ import annotations

import pytest

from armgate.analysis.contrasts import contrast, gate_contrasts, loss_contrasts
from armgate.analysis.floors import flip_floors, noise_floors
from armgate.model.comparison import ArmFigures, Contrast, Figure, GateContrast, LossFigures, Parted, PassFail
from armgate.model.outcome import ArmVerdict


def arm(
    name: str = "arm",
    *,
    boots: tuple[float, ...] = (),
    passes: dict[str, list[bool]] | None = None,
    losses: tuple[LossFigures, ...] = (),
) -> ArmFigures:
    """`boots`: the factor of each boot's speed; `passes`: a prompt's samples, all of one boot."""
    return ArmFigures(
        name=name,
        arm=None,
        arm_verdict=ArmVerdict.ACCEPTED,
        losses=losses,
        figures=tuple(
            Figure(metric="m", kind="k", prompt=f"p{n}", boot=boot, value=factor * (20 + n))
            for boot, factor in enumerate(boots)
            for n in range(8)
        ),
        passes=tuple(
            PassFail(gate="g", kind="g", prompt=prompt, sample=f"{prompt}.{n}", passed=passed)
            for prompt, samples in (passes or {}).items()
            for n, passed in enumerate(samples)
        ),
    )


def speed(ours: ArmFigures, theirs: ArmFigures) -> Contrast:
    found = contrast(ours, theirs, "m", "k", noise_floors(theirs))
    assert found is not None
    return found


def test_the_arm_is_named_as_the_cause_only_where_boots_say_so() -> None:
    base = arm("base", boots=(1.0, 1.01, 0.99, 1.02))
    few = speed(arm(boots=(1.5, 1.51)), base)
    assert (few.claim, few.attributed_to) == ("different", "arm_or_boot")
    enough = speed(arm(boots=(1.5, 1.51, 1.49, 1.52)), base)
    assert (enough.claim, enough.attributed_to) == ("different", "arm")
    one_slow_boot = speed(arm(boots=(1.5, 1.51, 1.49, 0.98)), base)
    assert one_slow_boot.attributed_to == "arm_or_boot"


def test_a_difference_within_what_boots_of_the_reference_show_is_none() -> None:
    found = speed(arm(boots=(1.15,)), arm("base", boots=(1.0, 1.2)))
    assert found.claim == "not_different"
    assert found.attributed_to is None


def gates(ours: dict[str, list[bool]], theirs: dict[str, list[bool]]) -> tuple[GateContrast, ...]:
    base = arm("base", passes=theirs)
    return gate_contrasts(arm(passes=ours), base, flip_floors(base))


def prompts(n: int, *samples: bool) -> dict[str, list[bool]]:
    return {f"q{number}": list(samples) for number in range(n)}


def test_verdicts_differ_where_enough_prompts_change_one_way() -> None:
    (found,) = gates(prompts(7, False, False), prompts(7, True, True))
    assert (found.only_arm_passed, found.only_reference_passed, found.prompts) == (0, 7, 7)
    assert found.p_value == pytest.approx(2 / 2**7)
    assert (found.claim, found.attributed_to) == ("different", "arm_or_boot")


@pytest.mark.parametrize(
    ("n", "samples", "why"),
    [
        (5, 2, "5 prompts in common, 6 are the minimum"),
        (7, 1, "no control ran, so a difference cannot be attributed to the arm"),
    ],
)
def test_few_prompts_or_no_control_is_too_little(n: int, samples: int, why: str) -> None:
    (found,) = gates(prompts(n, *[False] * samples), prompts(n, *[True] * samples))
    assert (found.claim, found.why) == ("insufficient_evidence", why)


def test_what_the_reference_flips_by_itself_is_no_difference() -> None:
    unsteady = {f"q{n}": [True, True, False, True] for n in range(2)} | prompts(9, True, True)
    (found,) = gates({p: [False, False] for p in unsteady}, {**unsteady, "q10": [True, False]})
    assert found.claim == "different"
    shaky = {f"q{n}": [True, False] for n in range(20)} | {f"s{n}": [True, True] for n in range(7)}
    (within,) = gates({p: [p.startswith("q"), False] for p in shaky}, shaky)
    assert within.p_value is not None
    assert within.p_value < 0.05
    assert within.claim == "not_different"
    assert "the reference's own verdicts" in within.why


def test_equally_many_first_samples_of_both_sides_are_held_against_each_other() -> None:
    late = {f"q{n}": [True] * 2 + [False] * 10 for n in range(9)}
    (found,) = gates(prompts(9, True, True), late)
    assert (found.only_arm_passed, found.claim) == (0, "not_different")
    (turned,) = gates(late, prompts(9, True, True))
    assert (turned.only_reference_passed, turned.claim) == (0, "not_different")


def parted(events: int, tokens: int, prompts: int = 20) -> Parted:
    return Parted(events=events, tokens=tokens, prompts=prompts, per_1000_tokens=None, interval=None)


def loss(ours: Parted, control: Parted | None, against: str = "base") -> ArmFigures:
    return arm(losses=(LossFigures(gate="l", against=against, arm=ours, control=control),))


def test_divergence_is_held_against_the_reference_s_own() -> None:
    (more,) = loss_contrasts(loss(parted(12, 2000), parted(0, 4000)))
    assert (more.claim, more.attributed_to) == ("different", "arm_or_boot")
    (same,) = loss_contrasts(loss(parted(12, 2000), parted(11, 2000)))
    assert same.claim == "not_different"
    (alone,) = loss_contrasts(loss(parted(12, 2000), None))
    assert (alone.claim, alone.p_value) == ("insufficient_evidence", None)
    assert "no control ran" in alone.why


@pytest.mark.parametrize(
    ("ours", "control"),
    [
        (parted(5, 50, prompts=5), parted(0, 4000)),
        (parted(12, 2000), parted(0, 4000, prompts=1)),
    ],
)
def test_divergence_of_a_few_prompts_is_too_little(ours: Parted, control: Parted) -> None:
    (found,) = loss_contrasts(loss(ours, control))
    assert (found.claim, found.p_value) == ("insufficient_evidence", None)
    assert "6 are the minimum" in found.why


def test_an_arm_that_diverges_less_than_the_reference_from_itself_is_no_different() -> None:
    (found,) = loss_contrasts(loss(parted(0, 4000), parted(8, 2000)))
    assert found.p_value is not None
    assert found.p_value < 0.05
    assert found.claim == "not_different"


def test_a_reference_is_not_contrasted_with_itself() -> None:
    assert loss_contrasts(loss(parted(1, 100), None, against="arm")) == ()
