"""Losslessness of an arm against its reference: all prompts compared, with the A/A control as the floor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from armgate.judging.divergence import compare_pair
from armgate.model.base import Json
from armgate.model.evidence import Sample
from armgate.model.intervals import poisson_interval, wilson_interval
from armgate.model.measures import Divergence, FirstDivergence, Measure, PairComparison
from armgate.model.outcome import Family, Outcome, SampleVerdict, Violation

FREE_KEYS = frozenset({"model", "stream", "stream_options"})
"""Request keys that may differ between two sides without changing what is asked of the model."""

UNCONTROLLED = "; no control ran, so this cannot be attributed to the arm"

NEUTRAL: Mapping[str, Json] = {"min_p": 0.0}
"""What an unsent key means where an engine takes it for some arms only (vLLM: none with a draft)."""


def compare_sides(
    arm: Sequence[Sample], reference: Sequence[Sample], near_tie_nats: float | None = None
) -> Divergence:
    """Each of the arm's samples against the reference's sample of the same probe and number."""
    theirs = {sample.id: sample for sample in reference}
    return divergence_of([_compared(sample, theirs.get(sample.id), near_tie_nats) for sample in arm])


def divergence_of(pairs: Iterable[PairComparison]) -> Divergence:
    """Totals, and divergences per 1,000 tokens over the tokens at which the sides could still agree.

    After the first divergence the two continuations answer different histories, so exposure ends there.
    """
    kept = tuple(pairs)
    by_ids = [pair for pair in kept if pair.state != "void" and pair.level == "token_ids"]
    exposure = sum(pair.compared for pair in by_ids)
    events = sum(pair.state == "diverged" for pair in by_ids)
    counted = Counter(pair.state for pair in kept)
    judged = counted["identical"] + counted["diverged"]
    rate = 1000 * events / exposure if exposure else None
    share = counted["identical"] / judged if judged else None
    return Divergence(
        pairs=kept,
        prompts=len({_probe(pair.sample) for pair in by_ids}),
        identical=counted["identical"],
        diverged=counted["diverged"],
        void=counted["void"],
        near_ties=sum(pair.divergence is not None and pair.divergence.near_tie is True for pair in kept),
        level=_level(kept),
        per_1000_tokens=_measure(
            "divergence_rate",
            "1000 x first divergences/tokens until one",
            "1/1000 tok",
            exposure,
            rate,
            "no_token_ids_compared",
        ),
        per_1000_tokens_interval=poisson_interval(events, exposure / 1000) if exposure else None,
        identical_share=_measure(
            "identical_share", "identical/(identical + diverged)", "ratio", judged, share, "nothing_compared"
        ),
        identical_share_interval=wilson_interval(counted["identical"], judged) if judged else None,
    )


def sample_verdicts(
    divergence: Divergence, control: Divergence | None, reference: str = "the reference"
) -> tuple[SampleVerdict, ...]:
    """One verdict per prompt. A prompt on which the reference differs from itself cannot condemn an arm."""
    controls = control.pairs if control is not None else ()
    unstable = {_probe(pair.sample) for pair in controls if pair.state == "diverged"}
    controlled = {_probe(pair.sample) for pair in controls if pair.state != "void"}
    return tuple(
        _verdict(
            pair,
            _probe(pair.sample) in unstable,
            reference,
            "" if _probe(pair.sample) in controlled else UNCONTROLLED,
        )
        for pair in divergence.pairs
    )


def _verdict(pair: PairComparison, unstable: bool, reference: str, caveat: str) -> SampleVerdict:
    outcome, cause = _outcome(pair, unstable)
    violations: tuple[Violation, ...] = ()
    if outcome is Outcome.FAILED and pair.divergence is not None:
        violations = (
            Violation(
                clause="lossless",
                message=f"{pair.sample} differs from {reference} {_says(pair.divergence)}{caveat}",
                channel=pair.divergence.channel,
                family=Family.SEMANTIC,
            ),
        )
    return SampleVerdict(
        sample=pair.sample,
        outcome=outcome,
        cause=cause,
        violations=violations,
        detail=pair.model_dump(mode="json", exclude_none=True),
    )


def _outcome(pair: PairComparison, unstable: bool) -> tuple[Outcome, str | None]:
    if pair.state == "void":
        return Outcome.VOID, pair.void_cause
    if pair.state == "identical":
        return Outcome.PASSED, None
    if unstable:
        return Outcome.VOID, "control_unstable"
    if pair.divergence is not None and pair.divergence.near_tie:
        return Outcome.PASSED, "near_tie"
    return Outcome.FAILED, "diverged"


def _says(parted: FirstDivergence) -> str:
    gap = ""
    if parted.gap_nats is not None:
        gap = f"; gap {'at least ' if parted.gap_is_lower_bound else ''}{parted.gap_nats:.3g} nats"
    place = f"at {parted.unit[:-1]} {parted.index}"
    return f"{place}: {parted.arm_text!r} against {parted.reference_text!r}{gap}"


def _compared(sample: Sample, other: Sample | None, near_tie_nats: float | None) -> PairComparison:
    cause = _unfit(sample, other)
    if cause is not None or other is None:
        return PairComparison(
            sample=sample.id, against=other.id if other else sample.id, state="void", void_cause=cause
        )
    return compare_pair(sample.id, sample.response, other.id, other.response, near_tie_nats)


def _unfit(sample: Sample, other: Sample | None) -> str | None:
    """Why two samples cannot be compared: one is void, they were asked different things, or not greedily."""
    if other is None:
        return "reference_missing"
    for side, one in (("arm", sample), ("reference", other)):
        if one.void is not None:
            return f"{side}_void: {one.void.cause}"
    ours, theirs = sample.exchange.request, other.exchange.request
    asked = (ours.keys() | theirs.keys()) - FREE_KEYS
    differing = sorted(key for key in asked if _value(ours, key) != _value(theirs, key))
    if differing:
        return f"requests_differ: {', '.join(differing)}"
    return None if ours.get("temperature") == 0 else "not_greedy: temperature is not 0"


def _value(request: Mapping[str, Json], key: str) -> Json:
    return request.get(key, NEUTRAL.get(key))


def _probe(sample_id: str) -> str:
    return sample_id.rpartition(".")[0]


def _level(pairs: Sequence[PairComparison]) -> Literal["token_ids", "text", "mixed"] | None:
    levels = {pair.level for pair in pairs if pair.level is not None}
    return levels.pop() if len(levels) == 1 else "mixed" if levels else None


def _measure(name: str, formula: str, unit: str, n: int, value: float | None, absent: str) -> Measure:
    return Measure(
        name=name, formula=formula, unit=unit, n=n, value=value, absent=absent if value is None else None
    )
