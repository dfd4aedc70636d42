"""One arm against another: what the pairs of prompts, the tests and the noise floor let one say."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, median

from armgate.analysis.floors import medians_by_prompt
from armgate.analysis.statistics import (
    ALPHA,
    MINIMUM_PAIRS,
    mcnemar_p,
    median_interval,
    rank_sum_p,
    rates_p,
    signed_rank_p,
)
from armgate.model.comparison import (
    ArmFigures,
    AttributedTo,
    Claim,
    Contrast,
    Figure,
    FlipFloor,
    GateContrast,
    LossContrast,
    LossFigures,
    NoiseFloor,
    Parted,
    PassFail,
)
from armgate.model.intervals import LEVEL
from armgate.model.measures import Interval

SPEED_TEST = "Wilcoxon signed rank over prompts, log ratios, two-sided"
GATE_TEST = "exact McNemar over prompts, two-sided"
LOSS_TEST = "conditional test of two Poisson rates, two-sided"
NO_CONTROL = "no control ran, so a difference cannot be attributed to the arm"


def contrast(
    arm: ArmFigures, against: ArmFigures, metric: str, kind: str, noise: Sequence[NoiseFloor]
) -> Contrast | None:
    """Whether two arms differ on one metric and kind; `None` where one of them has no such figure.

    Different needs three things: enough prompts in common, a test that says so, and a ratio beyond what
    the reference's own repeats show. The arm is named as its cause only where a test over boots says so.
    """
    ours, theirs = figures_of(arm, metric, kind), figures_of(against, metric, kind)
    if not ours or not theirs:
        return None
    ratio = median(f.value for f in ours) / median(f.value for f in theirs)
    logs = paired_logs(ours, theirs)
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
        ratio_interval=ratio_interval(logs),
        test=SPEED_TEST,
        p_value=p_value,
        claim=claim,
        why=why,
        attributed_to=_attributed(_boot_means(ours), _boot_means(theirs)) if claim == "different" else None,
    )


def gate_contrasts(
    arm: ArmFigures, against: ArmFigures, floors: Sequence[FlipFloor]
) -> tuple[GateContrast, ...]:
    """Every gate and kind on which both arms have sound verdicts, prompt by prompt."""
    groups = dict.fromkeys((one.gate, one.kind) for one in arm.passes)
    found = (_gate_contrast(arm, against, gate, kind, floors) for gate, kind in groups)
    return tuple(one for one in found if one.prompts)


def loss_contrasts(arm: ArmFigures) -> tuple[LossContrast, ...]:
    """Each losslessness gate's divergence rate beside that of its reference's own repeats."""
    return tuple(_loss_contrast(arm.name, figures) for figures in arm.losses if figures.against != arm.name)


def figures_of(arm: ArmFigures, metric: str, kind: str) -> list[Figure]:
    return [figure for figure in arm.figures if (figure.metric, figure.kind) == (metric, kind)]


def paired_logs(ours: Sequence[Figure], theirs: Sequence[Figure]) -> list[float]:
    """Log ratio of the medians, prompt by prompt, over the prompts that both have with positive values."""
    mine, other = medians_by_prompt(ours), medians_by_prompt(theirs)
    both = sorted(prompt for prompt in mine.keys() & other.keys() if mine[prompt] > 0 and other[prompt] > 0)
    return [math.log(mine[prompt] / other[prompt]) for prompt in both]


def ratio_interval(logs: Sequence[float], level: float = LEVEL) -> Interval | None:
    """Of the median ratio over prompts."""
    found = median_interval(logs, level)
    if found is None or found.high is None:
        return None
    method = f"{found.method}, over prompts, of the ratio"
    return Interval(low=math.exp(found.low), high=math.exp(found.high), level=level, method=method)


def _claim(
    ratio: float, logs: Sequence[float], p_value: float | None, floor: NoiseFloor | None
) -> tuple[Claim, str]:
    if p_value is None:
        return "insufficient_evidence", f"{len(logs)} prompts in common, {MINIMUM_PAIRS} are the minimum"
    if floor is None or floor.widest is None:
        return "insufficient_evidence", NO_CONTROL
    if p_value > ALPHA:
        return "not_different", f"p = {p_value:.3g}"
    if abs(median(logs)) <= math.log1p(floor.widest):
        return "not_different", f"within the reference's own spread of {floor.widest:.1%}"
    if (ratio > 1) is not (median(logs) > 0):
        return "not_different", "the medians and the pairs point in opposite directions"
    return "different", f"p = {p_value:.3g}, beyond the reference's own spread of {floor.widest:.1%}"


def _boot_means(figures: Sequence[Figure]) -> list[float]:
    """One value for each boot: the mean log of its prompts' medians."""
    boots = sorted({figure.boot for figure in figures})
    by_boot = (medians_by_prompt(f for f in figures if f.boot == boot and f.value > 0) for boot in boots)
    return [fmean(map(math.log, medians.values())) for medians in by_boot if medians]


def _attributed(ours: Sequence[float], theirs: Sequence[float]) -> AttributedTo:
    """The arm, if its boots as a whole differ from the other's. Four boots against four are the fewest
    of equal number on which the rank sum test can say so (2/70); one of each says nothing."""
    return "arm" if rank_sum_p(ours, theirs) <= ALPHA else "arm_or_boot"


def _gate_contrast(
    arm: ArmFigures, against: ArmFigures, gate: str, kind: str, floors: Sequence[FlipFloor]
) -> GateContrast:
    ours, theirs = _alike_often(_by_prompt(arm.passes, gate, kind), _by_prompt(against.passes, gate, kind))
    both = ours.keys()
    up = sum(ours[prompt] and not theirs[prompt] for prompt in both)
    down = sum(theirs[prompt] and not ours[prompt] for prompt in both)
    p_value = mcnemar_p(up, down) if len(both) >= MINIMUM_PAIRS else None
    control = [one for one in floors if (one.gate, one.kind) == (gate, kind)]
    claim, why = _gate_claim(len(both), up + down, p_value, control)
    return GateContrast(
        gate=gate,
        kind=kind,
        arm=arm.name,
        against=against.name,
        prompts=len(both),
        only_arm_passed=up,
        only_reference_passed=down,
        test=GATE_TEST,
        p_value=p_value,
        claim=claim,
        why=why,
        attributed_to=_attributed(_boot_shares(arm, gate, kind), _boot_shares(against, gate, kind))
        if claim == "different"
        else None,
    )


def _by_prompt(passes: Sequence[PassFail], gate: str, kind: str) -> dict[str, list[bool]]:
    """Prompt -> its samples' verdicts, by boot and number of the sample."""
    found: dict[str, list[bool]] = {}
    for one in sorted(passes, key=_place):
        if (one.gate, one.kind) == (gate, kind):
            found.setdefault(one.prompt, []).append(one.passed)
    return found


def _place(one: PassFail) -> tuple[int, int, str]:
    """Numbers of samples have no leading zeros, so a longer name of one prompt is a later sample."""
    return one.boot, len(one.sample), one.sample


def _alike_often(
    ours: Mapping[str, Sequence[bool]], theirs: Mapping[str, Sequence[bool]]
) -> tuple[dict[str, bool], dict[str, bool]]:
    """Whether each prompt that both have passed every time, over equally many first samples of each side.

    All of eight samples pass less often than all of two, whatever the arms.
    """
    counts = {prompt: min(len(ours[prompt]), len(theirs[prompt])) for prompt in ours if prompt in theirs}
    mine = {prompt: all(ours[prompt][:n]) for prompt, n in counts.items()}
    return mine, {prompt: all(theirs[prompt][:n]) for prompt, n in counts.items()}


def _boot_shares(arm: ArmFigures, gate: str, kind: str) -> list[float]:
    ours = [one for one in arm.passes if (one.gate, one.kind) == (gate, kind)]
    return [fmean(one.passed for one in ours if one.boot == boot) for boot in {one.boot for one in ours}]


def _gate_claim(
    prompts: int, discordant: int, p_value: float | None, control: Sequence[FlipFloor]
) -> tuple[Claim, str]:
    if p_value is None:
        return "insufficient_evidence", f"{prompts} prompts in common, {MINIMUM_PAIRS} are the minimum"
    if not control:
        return "insufficient_evidence", NO_CONTROL
    flips = max(floor.rate for floor in control)
    if p_value > ALPHA:
        return "not_different", f"{discordant} of {prompts} prompts changed, p = {p_value:.3g}"
    if discordant / prompts <= flips:
        return (
            "not_different",
            f"{discordant / prompts:.1%} changed; the reference's own verdicts {flips:.1%}",
        )
    return "different", f"p = {p_value:.3g}, beyond the reference's own flips of {flips:.1%}"


def _loss_contrast(name: str, figures: LossFigures) -> LossContrast:
    arm, control = figures.arm, figures.control
    claim, why, p_value = _loss_claim(arm, control)
    return LossContrast(
        gate=figures.gate,
        arm=name,
        against=figures.against,
        divergence=arm,
        control=control,
        test=LOSS_TEST,
        p_value=p_value,
        claim=claim,
        why=why,
        attributed_to="arm_or_boot" if claim == "different" else None,
    )


def _loss_claim(arm: Parted, control: Parted | None) -> tuple[Claim, str, float | None]:
    """An arm that parts from its reference less often than that from itself is no worse a copy of it."""
    if control is None or not control.tokens:
        return "insufficient_evidence", NO_CONTROL, None
    prompts = min(arm.prompts, control.prompts)
    if prompts < MINIMUM_PAIRS or not arm.tokens:
        why = f"{prompts} prompts compared by token on both sides, {MINIMUM_PAIRS} are the minimum"
        return "insufficient_evidence", why, None
    p_value = rates_p(arm.events, arm.tokens, control.events, control.tokens)
    above = arm.events * control.tokens > control.events * arm.tokens
    why = (
        f"{arm.events} divergences in {arm.tokens} tokens, the reference against itself "
        f"{control.events} in {control.tokens}, p = {p_value:.3g}"
    )
    return "different" if p_value <= ALPHA and above else "not_different", why, p_value
