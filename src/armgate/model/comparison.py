"""A comparison of arms: what goes in as plain figures, and what may be said of them."""

from __future__ import annotations

from typing import Literal

from armgate.model.arms import Arm
from armgate.model.base import Frozen, Json, Name
from armgate.model.measures import Acceptance, Interval
from armgate.model.outcome import ArmVerdict

Claim = Literal["different", "not_different", "insufficient_evidence"]


class Figure(Frozen):
    """One measured value of one sample. `kind` is the kind of prompt; kinds are never pooled."""

    metric: str
    kind: str
    prompt: str
    value: float
    boot: int = 1


class ArmFigures(Frozen):
    """One arm as the comparison sees it. `arm` is `None` where its resolved settings were not recorded."""

    name: str
    arm: Arm | None
    arm_verdict: ArmVerdict
    reasons: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
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
    """Whether anything besides the speculation differs; `None` where an arm's settings are not known."""


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
    """How far the reference's repeats of one prompt lie apart, as a share; differences below it are noise."""

    metric: str
    kind: str
    repeated_prompts: int
    relative: float | None
    absent: str | None = None


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


class ArmComparison(Frozen):
    name: str
    arm_verdict: ArmVerdict
    qualified: bool
    reasons: tuple[str, ...]
    """Why the arm is not qualified; it stays beside the speed."""
    acceptance: Acceptance | None
    summaries: tuple[Summary, ...]
    attribution: Attribution | None
    """Against the reference; `None` for the reference itself."""
    contrasts: tuple[Contrast, ...]


class Ranked(Frozen):
    """A place in a ranking: the geometric mean, over kinds, of the ratio of medians to the reference."""

    name: str
    score: float


class Choice(Frozen):
    """The choice by one metric among qualified arms. `fastest` is a measurement and no candidate."""

    status: Literal["winner", "tie", "insufficient_evidence", "none_qualifies"]
    metric: str
    winner: str | None
    statement: str
    ranking: tuple[Ranked, ...]
    tied: tuple[str, ...] = ()
    fastest: str | None = None


class Comparison(Frozen):
    """`comparison.json`."""

    schema_version: Literal["armgate/comparison/v1"] = "armgate/comparison/v1"
    reference: Name
    minimum_pairs: int
    arms: tuple[ArmComparison, ...]
    noise: tuple[NoiseFloor, ...]
    choice: Choice
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


class DepthSpeedup(Frozen):
    """Speed with speculation over speed without, at one context depth."""

    depth_tokens: int
    speedup: float
    slower: bool
    mean_length: float | None


class DepthTable(Frozen):
    rows: tuple[DepthSpeedup, ...]
    mean_speedup: float
    """Shown because it is quoted; it decides nothing."""
    slower_at: tuple[int, ...]
    """Depths at which speculation costs time; each decides by itself, no mean over depths does."""
    length_falls: bool
    """Whether the mean accepted length falls at every step of the depth."""


class RetrievalStep(Frozen):
    """Between which depths retrieval breaks off, in tokens."""

    last_good_tokens: int
    first_bad_tokens: int
    chunk_tokens: int | None
    at_chunk_boundary: bool
    """The break coincides with the size of a prefill chunk: a fault of serving, not of the model."""
