"""Compares arms with their reference: medians, noise floor, attribution, claims, and the choice."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import median

from armgate.analysis.attribution import attribute
from armgate.analysis.choice import choose
from armgate.analysis.statistics import (
    LEVEL,
    MINIMUM_FOR_INTERVAL,
    MINIMUM_PAIRS,
    bootstrap_interval,
    signed_rank_p,
)
from armgate.model.comparison import (
    ArmComparison,
    ArmFigures,
    Claim,
    Comparison,
    Contrast,
    Figure,
    NoiseFloor,
    Pooled,
    Summary,
)
from armgate.model.measures import Interval

TEST = "exact Wilcoxon signed rank over prompts, log ratios, two-sided"
LIMITS = (
    "Claims hold for these prompts under these settings; tests are not corrected for the number of claims.",
    "With one boot per arm, the boot and the arm cannot be told apart.",
)


def compare_arms(
    arms: Sequence[ArmFigures], reference: str, metric: str, higher_is_better: bool = True
) -> Comparison:
    """The comparison of `arms`, one of which is `reference`; `metric` decides the choice.

    Raises `ValueError` where the reference is not among the arms.
    """
    base = next((arm for arm in arms if arm.name == reference), None)
    if base is None:
        raise ValueError(f"the reference {reference!r} is not among the arms")
    noise = noise_floors(base)
    return Comparison(
        reference=reference,
        minimum_pairs=MINIMUM_PAIRS,
        arms=tuple(_arm_comparison(arm, base, noise) for arm in arms),
        noise=noise,
        choice=choose(arms, base, metric, noise, contrast, higher_is_better),
        limits=(*LIMITS, *_missing_controls(noise)),
    )


def summaries(arm: ArmFigures) -> tuple[Summary, ...]:
    """Median, range and n for each metric and kind of prompt, and an interval where n allows one."""
    return tuple(_summary(metric, kind, _figures(arm, metric, kind)) for metric, kind in _groups([arm]))


def noise_floors(reference: ArmFigures) -> tuple[NoiseFloor, ...]:
    """The widest relative range of the reference's repeats of one prompt, for each metric and kind."""
    return tuple(_noise_floor(reference, metric, kind) for metric, kind in _groups([reference]))


def contrast(
    arm: ArmFigures, against: ArmFigures, metric: str, kind: str, noise: Sequence[NoiseFloor]
) -> Contrast | None:
    """Whether two arms differ on one metric and kind; `None` where one of them has no such figure.

    Different needs three things: enough prompts in common, a test that says so, and a ratio beyond what
    the reference's own repeats show.
    """
    ours, theirs = _figures(arm, metric, kind), _figures(against, metric, kind)
    if not ours or not theirs:
        return None
    ratio = median(f.value for f in ours) / median(f.value for f in theirs)
    logs = _paired_logs(ours, theirs)
    p_value = signed_rank_p(logs)
    floor = next((one for one in noise if (one.metric, one.kind) == (metric, kind)), None)
    claim, why = _claim(ratio, logs, p_value, floor)
    return Contrast(
        metric=metric,
        kind=kind,
        arm=arm.name,
        against=against.name,
        ratio=ratio,
        pairs=len(logs),
        ratio_interval=_ratio_interval(logs),
        test=TEST,
        p_value=p_value,
        claim=claim,
        why=why,
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


def _arm_comparison(arm: ArmFigures, base: ArmFigures, noise: Sequence[NoiseFloor]) -> ArmComparison:
    is_base = arm.name == base.name
    found = [] if is_base else [contrast(arm, base, metric, kind, noise) for metric, kind in _groups([arm])]
    return ArmComparison(
        name=arm.name,
        arm_verdict=arm.arm_verdict,
        qualified=arm.qualified,
        reasons=arm.reasons,
        acceptance=arm.acceptance,
        summaries=summaries(arm),
        attribution=None if is_base else attribute(arm.arm, base.arm),
        contrasts=tuple(one for one in found if one is not None),
    )


def _summary(metric: str, kind: str, figures: Sequence[Figure]) -> Summary:
    values = [figure.value for figure in figures]
    by_prompt = _medians_by_prompt(figures)
    units = list(by_prompt.values()) if len(by_prompt) > 1 else values
    interval = bootstrap_interval(units)
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
        interval_absent=None
        if interval
        else f"insufficient evidence: {len(units)} independent values, "
        f"{MINIMUM_FOR_INTERVAL} are the minimum",
    )


def _noise_floor(reference: ArmFigures, metric: str, kind: str) -> NoiseFloor:
    by_prompt: dict[str, list[float]] = {}
    for figure in _figures(reference, metric, kind):
        by_prompt.setdefault(figure.prompt, []).append(figure.value)
    repeated = [values for values in by_prompt.values() if len(values) > 1 and min(values) > 0]
    return NoiseFloor(
        metric=metric,
        kind=kind,
        repeated_prompts=len(repeated),
        relative=max((max(values) / min(values) - 1 for values in repeated), default=None),
        absent=None if repeated else "no control: the reference repeated no prompt of this kind",
    )


def _claim(
    ratio: float, logs: Sequence[float], p_value: float | None, floor: NoiseFloor | None
) -> tuple[Claim, str]:
    if p_value is None:
        return "insufficient_evidence", f"{len(logs)} prompts in common, {MINIMUM_PAIRS} are the minimum"
    if floor is None or floor.relative is None:
        return "insufficient_evidence", "no control ran, so a difference cannot be attributed to the arm"
    if p_value > 1 - LEVEL:
        return "not_different", f"p = {p_value:.3g}"
    if abs(median(logs)) <= math.log1p(floor.relative):
        return "not_different", f"within the reference's own spread of {floor.relative:.1%}"
    if (ratio > 1) is not (median(logs) > 0):
        return "not_different", "the medians and the pairs point in opposite directions"
    return "different", f"p = {p_value:.3g}, beyond the reference's own spread of {floor.relative:.1%}"


def _ratio_interval(logs: Sequence[float]) -> Interval | None:
    found = bootstrap_interval(logs)
    if found is None or found.high is None:
        return None
    return Interval(
        low=math.exp(found.low),
        high=math.exp(found.high),
        level=found.level,
        method=f"{found.method}, over prompts, of the ratio",
    )


def _paired_logs(ours: Sequence[Figure], theirs: Sequence[Figure]) -> list[float]:
    """Log ratio of the medians, prompt by prompt, over the prompts that both have with positive values."""
    mine, other = _medians_by_prompt(ours), _medians_by_prompt(theirs)
    both = sorted(prompt for prompt in mine.keys() & other.keys() if mine[prompt] > 0 and other[prompt] > 0)
    return [math.log(mine[prompt] / other[prompt]) for prompt in both]


def _medians_by_prompt(figures: Sequence[Figure]) -> dict[str, float]:
    by_prompt: dict[str, list[float]] = {}
    for figure in figures:
        by_prompt.setdefault(figure.prompt, []).append(figure.value)
    return {prompt: median(values) for prompt, values in by_prompt.items()}


def _figures(arm: ArmFigures, metric: str, kind: str) -> list[Figure]:
    return [figure for figure in arm.figures if figure.metric == metric and figure.kind == kind]


def _groups(arms: Iterable[ArmFigures]) -> list[tuple[str, str]]:
    """Metrics and kinds in the order first seen."""
    return list(dict.fromkeys((f.metric, f.kind) for arm in arms for f in arm.figures))


def _missing_controls(noise: Sequence[NoiseFloor]) -> list[str]:
    return [f"{one.metric} on {one.kind}: {one.absent}" for one in noise if one.absent is not None]
