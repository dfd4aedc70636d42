"""Whose traffic a server counted while a gate ran: its own counts against what this run sent."""

from __future__ import annotations

from collections.abc import Sequence

from armgate.judging.counters import counter_deltas
from armgate.model.evidence import Counters, Sample
from armgate.model.exchange import Exchange, Fate
from armgate.model.measures import CounterDeltas, Interference, Traffic
from armgate.model.retries import Attempt


def interference(deltas: CounterDeltas, ours: Traffic, before: int | None = None) -> Interference:
    """The server's gains minus what this run sent. `before`: what others completed since the last gate."""
    if not deltas.available or deltas.reset:
        return Interference(
            requests=None, prompt_tokens=None, generation_tokens=None, absent=deltas.reset or deltas.reason
        )
    return Interference(
        requests=_minus(deltas.requests, ours.requests),
        prompt_tokens=_minus(deltas.prompt_tokens, ours.prompt_tokens),
        generation_tokens=_minus(deltas.generation_tokens, ours.generation_tokens),
        unanswered=ours.unanswered,
        before=before,
        preemptions=deltas.preemptions,
        quiescent=deltas.quiescent,
    )


def completed_between(previous: Counters | None, before: Counters | None) -> int | None:
    """Completions between two gates: nobody of this run was sending then. `None` where none can be told."""
    if previous is None or before is None:
        return None
    return counter_deltas(previous, before).requests


def traffic_of(samples: Sequence[Sample]) -> Traffic:
    """What these exchanges sent, with the attempts that were not judged. A request that a server refused
    (4xx) never reached its counters.

    Token counts are the server's usage; they are unknown as soon as one answer came without, or is not read.
    """
    sent = [sample for sample in samples if not _refused(sample.exchange)]
    whole = [sample for sample in sent if _answered(sample)]
    others = [one for sample in samples for one in sample.attempts if one.path != sample.path]
    reached = [one for one in others if not _refused(one)]
    answered = sum(one.answered for one in reached)
    usages = [*(sample.response.usage for sample in whole), *[None] * answered]
    broken = len(sent) - len(whole) + len(reached) - answered
    return Traffic(
        requests=len(whole) + answered,
        unanswered=broken,
        prompt_tokens=_total([usage.prompt_tokens if usage else None for usage in usages], broken),
        generation_tokens=_total([usage.completion_tokens if usage else None for usage in usages], broken),
    )


def _refused(sent: Exchange | Attempt) -> bool:
    return sent.fate is Fate.REFUSED or (sent.status is not None and 400 <= sent.status < 500)


def _answered(sample: Sample) -> bool:
    """Whether the server finished this request by its own account: its stream ended, or it told a usage."""
    whole = sample.exchange.fate is Fate.COMPLETE and sample.exchange.status == 200
    return whole and not sample.response.errors


def _total(counts: Sequence[int | None], broken: int) -> int | None:
    if broken or None in counts:
        return None
    return sum(count for count in counts if count is not None)


def _minus(server: int | None, ours: int | None) -> int | None:
    return None if server is None or ours is None else server - ours
