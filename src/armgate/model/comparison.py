"""A comparison of arms: what goes in as plain figures, and what may be said of them."""

from __future__ import annotations

from typing import Literal

from armgate.model.arms import Arm
from armgate.model.base import Frozen, Json, Name
from armgate.model.draft_depth import DepthAdvice
from armgate.model.measures import Acceptance, Interval
from armgate.model.outcome import ArmVerdict
from armgate.model.quality import OutcomeCounts
from armgate.model.references import Reference

Claim = Literal["different", "not_different", "insufficient_evidence"]


class Figure(Frozen):
    """One measured value of one sample. `kind` is the kind of prompt; kinds are never pooled."""

    metric: str
    kind: str
    prompt: str
    value: float
    boot: int = 1


class PassFail(Frozen):
    """One sample's sound verdict in one gate: passed, or failed. Void samples are none."""

    gate: str
    kind: str
    """The probe's declared kind, else the gate's id; kinds are never pooled."""
    prompt: str
    sample: str
    passed: bool
    boot: int = 0


class Parted(Frozen):
    """How often one side left another, by token id: first divergences, and tokens until then."""

    events: int
    tokens: int
    prompts: int
    """Prompts that were compared by token id; their repeats are no further ones."""
    per_1000_tokens: float | None
    interval: Interval | None


class LossFigures(Frozen):
    """What one losslessness gate measured of an arm, and of the reference against its own repeats."""

    gate: str
    against: str
    arm: Parted
    control: Parted | None


class ArmFigures(Frozen):
    """One arm as the comparison sees it. `arm` is `None` where its resolved settings were not recorded."""

    name: str
    arm: Arm | None
    arm_verdict: ArmVerdict
    reasons: tuple[str, ...] = ()
    reference: str | None = None
    """The arm that this one is judged against, where that is not the campaign's reference."""
    pins: dict[str, Json] = {}
    """Identities of the pins that the arm names, by role; unlike names of one artifact are no difference."""
    observed: dict[str, Json] = {}
    """What its boot turned out to be: versions, settings read back, environment, hardware."""
    figures: tuple[Figure, ...] = ()
    passes: tuple[PassFail, ...] = ()
    losses: tuple[LossFigures, ...] = ()
    acceptance: Acceptance | None = None

    @property
    def qualified(self) -> bool:
        return self.arm_verdict is ArmVerdict.ACCEPTED


class Difference(Frozen):
    """A field in which two resolved arms differ, by its dotted path."""

    path: str
    arm: Json
    reference: Json


class Attribution(Frozen):
    """What a difference between two arms could come from."""

    factor: str
    """In words, from the fields that differ; a factor alone only where `confounded` is false."""
    differences: tuple[Difference, ...]
    confounded: bool | None
    """Whether more than one factor differs; `None` where an arm's settings are not known."""


class Summary(Frozen):
    """One arm's values of one metric on one kind of prompt. Min and max are a range, not an interval."""

    metric: str
    kind: str
    n: int
    prompts: int
    boots: int
    median: float
    low: float
    high: float
    interval: Interval | None
    interval_absent: str | None = None


class NoiseFloor(Frozen):
    """How far the reference lies from itself, as a share; differences below it are noise.

    `relative` is the widest range of its repeats of one prompt in one boot, `across_boots` that of one
    prompt's medians over its boots.
    """

    metric: str
    kind: str
    repeated_prompts: int
    relative: float | None
    boots: int = 1
    across_boots: float | None = None
    absent: str | None = None

    @property
    def widest(self) -> float | None:
        known = [share for share in (self.relative, self.across_boots) if share is not None]
        return max(known, default=None)


class FlipFloor(Frozen):
    """How often the reference's verdict on one prompt was not the same twice, in one gate."""

    gate: str
    kind: str
    scope: Literal["same_boot", "across_boots"]
    pairs: int
    flips: int
    rate: float
    interval: Interval


AttributedTo = Literal["arm", "arm_or_boot"]
"""`arm_or_boot`: too few boots to tell the arm from the one start of it that was measured."""


class Contrast(Frozen):
    """One arm against another on one metric and kind of prompt."""

    metric: str
    kind: str
    arm: str
    against: str
    ratio: float
    """Ratio of the medians."""
    pairs: int
    """Prompts that both answered."""
    ratio_interval: Interval | None
    test: str
    p_value: float | None
    claim: Claim
    why: str
    attributed_to: AttributedTo | None = None
    """Set where the claim is `different`."""


class GateContrast(Frozen):
    """One arm against another on one gate's prompts, passed against failed."""

    gate: str
    kind: str
    arm: str
    against: str
    prompts: int
    """Prompts with a sound verdict on both sides."""
    only_arm_passed: int
    only_reference_passed: int
    test: str
    p_value: float | None
    claim: Claim
    why: str
    attributed_to: AttributedTo | None = None


class LossContrast(Frozen):
    """An arm's divergence rate beside its reference's own, by a test of two Poisson rates."""

    gate: str
    arm: str
    against: str
    divergence: Parted
    control: Parted | None
    test: str
    p_value: float | None
    claim: Claim
    why: str
    attributed_to: AttributedTo | None = None


class Versus(Frozen):
    """One arm against one reference: what differs between them, and what may be said of that."""

    reference: str
    attribution: Attribution
    contrasts: tuple[Contrast, ...]
    gates: tuple[GateContrast, ...] = ()
    losses: tuple[LossContrast, ...] = ()


class ArmComparison(Frozen):
    name: str
    arm_verdict: ArmVerdict
    qualified: bool
    reasons: tuple[str, ...]
    """Why the arm is not qualified; it stays beside the speed."""
    acceptance: Acceptance | None
    summaries: tuple[Summary, ...]
    versus: tuple[Versus, ...]
    """Against the campaign's reference and, where it is another, the arm's own; empty for the former."""


class Ranked(Frozen):
    """A place in a ranking: the geometric mean, over kinds, of the ratio of medians to the reference."""

    name: str
    score: float
    interval: Interval | None = None
    """Of the score; `None` for the reference, and where a kind has too few prompts."""


class Choice(Frozen):
    """The choice by one metric among qualified arms. `fastest` is a measurement and no candidate."""

    status: Literal["winner", "tie", "insufficient_evidence", "none_qualifies"]
    metric: str
    winner: str | None
    statement: str
    ranking: tuple[Ranked, ...]
    tied: tuple[str, ...] = ()
    fastest: str | None = None


class FinalBoot(Frozen):
    """The chosen arm's boot after the choice. Readiness alone is no quality: only the ladder's verdicts are.

    Where none was booted its verdicts are skipped, so that what was planned still adds up.
    """

    state: Literal["held", "did_not_hold", "inconclusive", "not_booted"]
    arm: str | None = None
    boot: int | None = None
    arm_verdict: ArmVerdict | None = None
    """Of this boot alone."""
    because_of: str | None = None
    """Why none was booted."""
    counts: OutcomeCounts


class Comparison(Frozen):
    """`comparison.json`."""

    schema_version: Literal["armgate/comparison/v1"] = "armgate/comparison/v1"
    reference: Name
    minimum_pairs: int
    arms: tuple[ArmComparison, ...]
    noise: tuple[NoiseFloor, ...]
    flips: tuple[FlipFloor, ...] = ()
    choice: Choice
    final: FinalBoot | None = None
    """`None` where the campaign asks for no final boot."""
    depths: tuple[DepthAdvice, ...] = ()
    references: tuple[Reference, ...] = ()
    """Other people's results as the campaign lists them: not compared, not ranked."""
    limits: tuple[str, ...]


class Pooled(Frozen):
    """A median over unlike prompts, kept only to set someone's published figure beside its parts."""

    label: Literal["pooled, as published"] = "pooled, as published"
    name: str
    metric: str
    n: int
    kinds: tuple[str, ...]
    median: float
    ratio: float | None
    interval_absent: str = "pooled over unlike prompts; repeats of one prompt are no independent samples"
