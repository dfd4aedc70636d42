"""Figures that a server puts into its answers: speculation and times of one request, as it saw them itself.

vLLM: the key `metrics` of the usage chunk or the body, with `--per-request-spec-decode-metrics summary` and
`--enable-per-request-metrics`. SGLang: `meta_info` with `spec_accept_rate` and `spec_accept_length`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from armgate.judging.counters import acceptance_from_counts
from armgate.judging.speculation_log import reported
from armgate.model.base import Frozen, Json
from armgate.model.evidence import Sample
from armgate.model.measures import Acceptance, SourcedAcceptance


class ServerTimes(Frozen):
    """One request's times in seconds by the server's own clock."""

    queue_s: float | None
    ttft_s: float | None
    """From the scheduling of the request to its first token; waiting in the queue is not in it."""

    @property
    def from_arrival_s(self) -> float | None:
        return None if self.queue_s is None or self.ttft_s is None else self.queue_s + self.ttft_s


def server_times(sample: Sample) -> ServerTimes | None:
    """vLLM's `queue_time_ms` and `time_to_first_token_ms`."""
    told = _told(sample)
    queue_s, ttft_s = (_seconds(told.get(key)) for key in ("queue_time_ms", "time_to_first_token_ms"))
    return None if queue_s is None and ttft_s is None else ServerTimes(queue_s=queue_s, ttft_s=ttft_s)


def requests_acceptance(samples: Sequence[Sample]) -> Acceptance | None:
    """The sum of all answers' own speculation figures, or `None` as soon as one answer lacks them."""
    told = [_speculation(sample) for sample in samples]
    known = [one for one in told if one is not None]
    if not known or len(known) < len(told):
        return None
    return acceptance_from_counts(
        sum(one["num_spec_steps"] for one in known),
        sum(one["num_draft_tokens"] for one in known),
        sum(one["num_accepted_draft_tokens"] for one in known),
        source="per-request metrics",
        accepted_per_position=_per_position([one["acceptance_histogram"] for one in known]),
    )


def reported_acceptance(samples: Sequence[Sample]) -> tuple[SourcedAcceptance, ...]:
    """SGLang's report of each answer, as a rate and a length; no counts stand behind them."""
    found = []
    for sample in samples:
        meta = sample.response.raw.get("meta_info")
        if isinstance(meta, Mapping) and ("spec_accept_rate" in meta or "spec_accept_length" in meta):
            rate, length = (_number(meta.get(f"spec_accept_{name}")) for name in ("rate", "length"))
            found.append(reported(f"response of {sample.id}", rate, length))
    return tuple(found)


def _per_position(histograms: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Drafts whose token at each position was accepted: those that had more than so many accepted."""
    deepest = max(len(histogram) for histogram in histograms)
    return tuple(sum(sum(histogram[position:]) for histogram in histograms) for position in range(1, deepest))


def _told(sample: Sample) -> Mapping[str, Json]:
    metrics = sample.response.raw.get("metrics")
    return metrics if isinstance(metrics, Mapping) else {}


def _speculation(sample: Sample) -> Mapping[str, Json] | None:
    """vLLM's `speculative_decoding` where it holds the counts that it always has together."""
    told = _told(sample).get("speculative_decoding")
    if not isinstance(told, Mapping):
        return None
    counts = [told.get(key) for key in ("num_spec_steps", "num_draft_tokens", "num_accepted_draft_tokens")]
    histogram = told.get("acceptance_histogram")
    whole = isinstance(histogram, list) and all(type(n) is int for n in (*counts, *histogram))
    return told if whole else None


def _seconds(milliseconds: Json) -> float | None:
    number = _number(milliseconds)
    return None if number is None else number / 1000


def _number(value: Json) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
