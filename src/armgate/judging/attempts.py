"""What a verdict says of requests that were asked more than once: nothing of it is hidden in a figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from armgate.model.base import Json
from armgate.model.evidence import Sample
from armgate.model.outcome import Finding


def attempts_of(samples: Sequence[Sample]) -> dict[str, Json]:
    """By sample, where the gate allows several attempts: the judged one's own TTFT and, apart from it, how
    long after its due instant it was handed to the socket."""
    return {sample.id: _counted(sample) for sample in samples if sample.attempts}


def retried(samples: Sequence[Sample]) -> Iterator[Finding]:
    """A finding for every sample that was asked more than once."""
    for sample in samples:
        if len(sample.attempts) > 1:
            told = f"{len(sample.attempts)} attempts, {_unanswered(sample)} of them without an answer"
            yield Finding(kind="sample_needed_retries", message=f"{sample.id}: {told}")


def _counted(sample: Sample) -> Json:
    return {
        "made": len(sample.attempts),
        "unanswered": _unanswered(sample),
        "judged": sample.path,
        "ttft_s": sample.response.timings.ttft_s,
        "waited_s": -sample.exchange.clock.scheduled_s,
    }


def _unanswered(sample: Sample) -> int:
    return sum(not attempt.answered for attempt in sample.attempts)
