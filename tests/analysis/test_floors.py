from __future__ import annotations

import pytest

from armgate.analysis.floors import flip_floors, noise_floors
from armgate.model.comparison import ArmFigures, Figure, PassFail
from armgate.model.outcome import ArmVerdict


def reference(
    figures: tuple[tuple[str, int, float], ...] = (), passes: tuple[tuple[str, int, bool], ...] = ()
) -> ArmFigures:
    """`figures`: prompt, boot, value; `passes`: sample, boot, passed."""
    return ArmFigures(
        name="base",
        arm=None,
        arm_verdict=ArmVerdict.ACCEPTED,
        figures=tuple(Figure(metric="m", kind="k", prompt=p, boot=b, value=v) for p, b, v in figures),
        passes=tuple(
            PassFail(gate="g", kind="g", prompt=s.partition(".")[0], sample=s, boot=b, passed=ok)
            for s, b, ok in passes
        ),
    )


def test_repeats_in_one_boot_and_medians_over_boots_are_floors_of_their_own() -> None:
    (floor,) = noise_floors(
        reference((("x", 0, 10.0), ("x", 0, 10.4), ("x", 1, 11.0), ("x", 1, 11.4), ("y", 0, 5.0)))
    )
    assert floor.relative == pytest.approx(0.04)
    assert floor.across_boots == pytest.approx(11.2 / 10.2 - 1)
    assert floor.widest == floor.across_boots
    assert (floor.boots, floor.repeated_prompts, floor.absent) == (2, 1, None)


def test_boots_alone_are_a_control_too() -> None:
    (floor,) = noise_floors(reference((("x", 0, 10.0), ("x", 1, 12.0))))
    assert (floor.relative, floor.repeated_prompts) == (None, 0)
    assert floor.widest == pytest.approx(0.2)
    assert floor.absent is None


def test_verdicts_that_flip_are_counted_within_a_boot_and_from_boot_to_boot() -> None:
    within, across = flip_floors(
        reference(
            passes=(
                ("x.0", 0, True),
                ("x.1", 0, False),
                ("x.2", 0, True),
                ("y.0", 0, True),
                ("x.0", 1, True),
                ("y.0", 1, False),
                ("z.0", 1, False),
            )
        )
    )
    assert (within.scope, within.pairs, within.flips, within.rate) == ("same_boot", 2, 1, 0.5)
    assert (across.scope, across.pairs, across.flips, across.rate) == ("across_boots", 2, 1, 0.5)
    assert within.interval.method == "Wilson"
    assert within.interval.low < 0.5 < (within.interval.high or 0)


def test_one_answer_to_a_prompt_is_no_control() -> None:
    assert flip_floors(reference(passes=(("x.0", 0, True), ("y.0", 0, False)))) == ()
