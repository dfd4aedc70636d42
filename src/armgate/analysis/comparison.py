"""Compares arms with their references: medians, noise floor, attribution, claims, and the choice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from armgate.analysis.attribution import attribute
from armgate.analysis.choice import choose
from armgate.analysis.contrasts import contrast, figures_of, gate_contrasts, loss_contrasts
from armgate.analysis.floors import flip_floors, medians_by_prompt, noise_floors
from armgate.analysis.statistics import MINIMUM_FOR_INTERVAL, MINIMUM_PAIRS, median_interval
from armgate.model.comparison import (
    ArmComparison,
    ArmFigures,
    Comparison,
    Figure,
    FlipFloor,
    NoiseFloor,
    Pooled,
    Summary,
    Versus,
)

LIMITS = (
    "Claims hold for these prompts under these settings. Each is wrong in at most 5% of cases by itself; "
    "they are not corrected for their number.",
    "A claim attributed to `arm_or_boot` rests on too few boots to tell the arm from one start of it.",
)


def compare_arms(
    arms: Sequence[ArmFigures], reference: str, metric: str, higher_is_better: bool = True
) -> Comparison:
    """The comparison of `arms`, one of which is `reference`; `metric` decides the choice.

    Raises `ValueError` where the reference is not among the arms.
    """
    by_name = {arm.name: arm for arm in arms}
    if reference not in by_name:
        raise ValueError(f"the reference {reference!r} is not among the arms")
    base = by_name[reference]
    noise, flips = noise_floors(base), flip_floors(base)
    return Comparison(
        reference=reference,
        minimum_pairs=MINIMUM_PAIRS,
        arms=tuple(_arm_comparison(arm, base, by_name) for arm in arms),
        noise=noise,
        flips=flips,
        choice=choose(arms, base, metric, noise, contrast, higher_is_better),
        limits=(*LIMITS, *_missing_controls(arms, base, noise, flips)),
    )


def summaries(arm: ArmFigures) -> tuple[Summary, ...]:
    """Median, range and n for each metric and kind of prompt, and an interval where n allows one."""
    return tuple(_summary(metric, kind, figures_of(arm, metric, kind)) for metric, kind in _groups([arm]))


def versus(arm: ArmFigures, base: ArmFigures) -> Versus:
    """What differs between `arm` and `base`, and what may be said of their figures and verdicts."""
    noise = noise_floors(base)
    found = (contrast(arm, base, metric, kind, noise) for metric, kind in _groups([arm]))
    return Versus(
        reference=base.name,
        attribution=attribute(arm, base),
        contrasts=tuple(one for one in found if one is not None),
        gates=gate_contrasts(arm, base, flip_floors(base)),
        losses=tuple(one for one in loss_contrasts(arm) if one.against == base.name),
    )


def pooled_as_published(arms: Iterable[ArmFigures], reference: str, metric: str) -> tuple[Pooled, ...]:
    """Medians over all kinds of prompt together: to reproduce a publication that pooled, for nothing else."""
    found = {arm.name: [f for f in arm.figures if f.metric == metric] for arm in arms}
    medians = {name: median(f.value for f in figures) for name, figures in found.items() if figures}
    return tuple(
        Pooled(
            name=name,
            metric=metric,
            n=len(found[name]),
            kinds=tuple(sorted({f.kind for f in found[name]})),
            median=value,
            ratio=value / medians[reference] if medians.get(reference) else None,
        )
        for name, value in medians.items()
    )


def _arm_comparison(arm: ArmFigures, base: ArmFigures, arms: dict[str, ArmFigures]) -> ArmComparison:
    names = [base.name] + ([arm.reference] if arm.reference in arms and arm.reference is not None else [])
    against = [arms[name] for name in dict.fromkeys(names) if name != arm.name]
    return ArmComparison(
        name=arm.name,
        arm_verdict=arm.arm_verdict,
        qualified=arm.qualified,
        reasons=arm.reasons,
        acceptance=arm.acceptance,
        summaries=summaries(arm),
        versus=tuple(versus(arm, other) for other in against),
    )


def _summary(metric: str, kind: str, figures: Sequence[Figure]) -> Summary:
    values = [figure.value for figure in figures]
    by_prompt = medians_by_prompt(figures)
    # Repeats of one prompt show how steady it is, and are no sample of prompts.
    interval = median_interval(list(by_prompt.values()))
    return Summary(
        metric=metric,
        kind=kind,
        n=len(values),
        prompts=len(by_prompt),
        boots=len({figure.boot for figure in figures}),
        median=median(values),
        low=min(values),
        high=max(values),
        interval=interval,
        interval_absent=None if interval else _absent(len(by_prompt)),
    )


def _absent(prompts: int) -> str:
    return f"insufficient evidence: {prompts} prompts of this kind, {MINIMUM_FOR_INTERVAL} are the minimum"


def _groups(arms: Iterable[ArmFigures]) -> list[tuple[str, str]]:
    """Metrics and kinds in the order first seen."""
    return list(dict.fromkeys((f.metric, f.kind) for arm in arms for f in arm.figures))


def _missing_controls(
    arms: Sequence[ArmFigures], base: ArmFigures, noise: Sequence[NoiseFloor], flips: Sequence[FlipFloor]
) -> Iterator[str]:
    """What was measured of an arm and has no floor: differences there are not attributed."""
    yield from (f"{one.metric} on {one.kind}: {one.absent}" for one in noise if one.absent is not None)
    known = {one.gate for one in flips}
    bare = dict.fromkeys(one.gate for arm in arms for one in arm.passes if one.gate not in known)
    if bare:
        yield (
            f"no control ran for the verdicts of {', '.join(bare)}: {base.name} answered no prompt of them "
            "twice and was booted once, so differences there cannot be attributed to an arm"
        )
