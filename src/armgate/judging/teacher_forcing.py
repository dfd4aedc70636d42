"""Reads replays: each token of an answer, how likely the reference holds it, and what it holds more likely.

The wire form is vLLM's `prompt_logprobs` (protocol.py of its completion endpoint): for each prompt token a
mapping of token ids to `logprob`, `rank` and `decoded_token`, with the token itself always among them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from armgate.model.base import Json
from armgate.model.evidence import Sample
from armgate.model.exchange import Fate
from armgate.model.intervals import poisson_interval
from armgate.model.measures import Measure
from armgate.model.outcome import Family, Outcome, SampleVerdict, Violation
from armgate.model.teacher_forcing import Flip, ForcedAnswer, ForcedSide, ReplayedAnswer

FORMULA = "1000 x tokens that the reference holds less likely than another/tokens replayed"


def forced_side(samples: Iterable[Sample], replays: Sequence[ReplayedAnswer]) -> ForcedSide:
    """Every sample with its replay; a sample without one is void."""
    by_sample = {replay.sample: replay for replay in replays}
    answers = tuple(_answer(sample, by_sample.get(sample.id)) for sample in samples)
    tokens, flips = sum(one.tokens for one in answers), sum(one.flips for one in answers)
    return ForcedSide(
        answers=answers,
        tokens=tokens,
        flips=flips,
        worst_gap_nats=max((one.worst_gap_nats for one in answers), default=0.0),
        per_1000_tokens=Measure(
            name="forced_flip_rate",
            formula=FORMULA,
            unit="1/1000 tok",
            n=tokens,
            value=1000 * flips / tokens if tokens else None,
            absent=None if tokens else "no_tokens_replayed",
        ),
        per_1000_tokens_interval=poisson_interval(flips, tokens / 1000) if tokens else None,
    )


def forced_verdicts(
    arm: ForcedSide, control: ForcedSide | None, margin_nats: float, reference: str
) -> tuple[SampleVerdict, ...]:
    """One verdict per answer. Gaps within the margin are near ties; beyond it they count only where they are
    wider than any that the reference's own answers show in the same boot. `control` is `None` for those."""
    return tuple(_verdict(answer, control, margin_nats, reference) for answer in arm.answers)


def _verdict(
    answer: ForcedAnswer, control: ForcedSide | None, margin_nats: float, reference: str
) -> SampleVerdict:
    outcome, cause = _outcome(answer, control, margin_nats)
    violations: tuple[Violation, ...] = ()
    if outcome is Outcome.FAILED and answer.worst is not None:
        violations = (
            Violation(
                clause="lossless",
                message=f"{answer.sample} differs from {reference} beyond a near tie {_says(answer.worst)}",
                family=Family.SEMANTIC,
            ),
        )
    return SampleVerdict(
        sample=answer.sample,
        outcome=outcome,
        cause=cause,
        violations=violations,
        detail={"teacher_forced": answer.model_dump(mode="json", exclude_none=True)},
    )


def _outcome(
    answer: ForcedAnswer, control: ForcedSide | None, margin_nats: float
) -> tuple[Outcome, str | None]:
    if answer.state == "void":
        return Outcome.VOID, answer.void_cause
    if answer.worst_gap_nats <= margin_nats:
        return Outcome.PASSED, "near_tie" if answer.flips else None
    if control is not None and not control.tokens:
        return Outcome.VOID, "control_missing"
    if control is None or answer.worst_gap_nats <= control.worst_gap_nats:
        return Outcome.VOID, "control_unstable"
    return Outcome.FAILED, "diverged"


def _says(flip: Flip) -> str:
    return (
        f"at token {flip.index}: {flip.token_text!r} against {flip.reference_token_text!r}; "
        f"gap {flip.gap_nats:.3g} nats"
    )


def _answer(sample: Sample, replay: ReplayedAnswer | None) -> ForcedAnswer:
    cause, places = _places(sample, replay)
    if cause is not None or replay is None:
        return ForcedAnswer(sample=sample.id, state="void", void_cause=cause)
    ids = sample.response.token_ids or ()
    try:
        flips = [flip for flip in _flips(ids, places) if flip is not None]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        # The server's list is no evidence if it does not hold the token that was sent at that place.
        cause = f"replay_unreadable: {type(error).__name__}: {error}"
        return ForcedAnswer(sample=sample.id, state="void", void_cause=cause)
    worst = max(flips, key=lambda flip: flip.gap_nats, default=None)
    return ForcedAnswer(sample=sample.id, state="judged", tokens=len(ids), flips=len(flips), worst=worst)


def _places(sample: Sample, replay: ReplayedAnswer | None) -> tuple[str | None, Sequence[Json]]:
    """Why there is nothing to judge, or the server's entry for each of the answer's tokens."""
    cause = _not_replayable(sample)
    if cause is not None or replay is None:
        return cause or "not_replayed", ()
    exchange = replay.exchange
    if exchange.fate is not Fate.COMPLETE or exchange.status != 200:
        return f"replay_refused: {exchange.fate.value}, HTTP {exchange.status}", ()
    sent = exchange.request.get("prompt")
    if not isinstance(sent, list) or tuple(sent[replay.prompt_tokens :]) != sample.response.token_ids:
        return "replay_of_other_tokens", ()
    listed = _prompt_logprobs(exchange.body)
    if listed is None or len(listed) != len(sent):
        return "replay_without_logprobs", ()
    return None, listed[replay.prompt_tokens :]


def _not_replayable(sample: Sample) -> str | None:
    if sample.void is not None:
        return f"arm_void: {sample.void.cause}"
    return None if sample.response.token_ids else "no_token_ids"


def _prompt_logprobs(body: bytes) -> Sequence[Json] | None:
    try:
        (choice,) = json.loads(body)["choices"]
        listed = choice["prompt_logprobs"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return listed if isinstance(listed, list) else None


def _flips(ids: Sequence[int], places: Sequence[Mapping[str, Json]]) -> Iterator[Flip | None]:
    for index, (token, listed) in enumerate(zip(ids, places, strict=True)):
        best_id, best = max(listed.items(), key=lambda item: float(item[1]["logprob"]))
        own = listed[str(token)]
        gap = float(best["logprob"]) - float(own["logprob"])
        # The rank tells an exact tie that the sampler broke the other way; it is a flip of gap zero.
        if gap <= 0 and own.get("rank") in (None, 1):
            yield None
            continue
        yield Flip(
            index=index,
            token=token,
            reference_token=None if best_id == str(token) else int(best_id),
            token_text=own.get("decoded_token"),
            reference_token_text=None if best_id == str(token) else best.get("decoded_token"),
            logprob=float(own["logprob"]),
            reference_logprob=float(best["logprob"]),
            gap_nats=gap,
        )
