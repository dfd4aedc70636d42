"""Rates of one exchange by named formula; what the exchange does not carry is absent with the reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil
from statistics import median
from typing import NamedTuple

from armgate.model.measures import Gaps, Measure, Rates, TtftByCache
from armgate.model.response import Delta, Response

FORMULAS = {
    "decode_wall": "N/(wall-TTFT)",
    "decode_wall_rest": "(N-1)/(wall-TTFT)",
    "decode_span": "(N-1)/(t_last-t_first)",
    "decode_span_exact": "(N-tokens of the first delta)/(t_last-t_first)",
    "end_to_end": "N/wall",
    "prefill": "uncached prompt tokens/TTFT",
}
"""N = completion tokens by the server's usage; t_first and t_last = first and last text delta, TTFT =
t_first; wall = when the answer was whole: its last text or its finish reason, not its usage or `[DONE]`."""

SAME_INSTANT_S = 0.002
"""Deltas within this time of the first of them came in one delivery: a read, not a decode step."""

PACED_DELIVERIES = 5
"""Below this many deliveries a burst at the end cannot be told from a short answer."""


class Count(NamedTuple):
    """Completion tokens, or why the server's figure is not used."""

    tokens: int | None
    absent: str | None


def rates_of(response: Response, cap: int | None = None, caching: bool = True) -> Rates:
    """All rates of `response` in tokens per second.

    `cap` is the `max_tokens` that was sent; a count above it is not believed. `caching=False` says that
    the arm serves without a prefix cache, so an unreported cached count is 0 rather than unknown.
    """
    count = completion_count(response, cap)
    timings = response.timings
    unpaced = delivery_is_bursty(response.deltas)
    decode_absent = _decode_absent(response, count, unpaced)
    first_s, last_s, wall_s = timings.ttft_s, timings.last_text_s, timings.wall_s
    after_first_s, rest = _between(first_s, wall_s), _rest(count.tokens)
    return Rates(
        completion_tokens=count.tokens,
        count_source="usage" if count.tokens is not None else None,
        count_absent=count.absent,
        prompt_tokens=response.usage.prompt_tokens if response.usage else None,
        cached_tokens=response.usage.cached_tokens if response.usage else None,
        ttft_s=first_s,
        ttft_channel=timings.ttft_channel,
        first_content_s=timings.first_content_s,
        last_text_s=last_s,
        wall_s=wall_s,
        gaps=delivery_gaps(response.deltas),
        decode_wall=_rate("decode_wall", count.tokens, after_first_s, decode_absent),
        decode_wall_rest=_rate("decode_wall_rest", rest, after_first_s, decode_absent),
        decode_span=_rate("decode_span", rest, _between(first_s, last_s), decode_absent),
        decode_span_exact=_span_exact(response, count, decode_absent),
        end_to_end=_rate("end_to_end", count.tokens, wall_s, count.absent),
        prefill=_prefill(response, caching),
        flags=tuple(_flags(response, unpaced)),
    )


def completion_count(response: Response, cap: int | None = None) -> Count:
    """The server's completion tokens where the reading of the response could believe them.

    A missing or doubted count is never replaced by an estimate: deltas are not tokens, and counting the
    text anew with another tokenizer is another figure.
    """
    usage = response.usage
    if usage is None or usage.completion_tokens is None:
        return Count(None, "usage_missing")
    if not usage.trusted:
        return Count(None, ", ".join(usage.doubts) or "usage_implausible")
    tokens = usage.completion_tokens
    if cap is not None and tokens > cap:
        return Count(None, f"usage_implausible: {tokens} tokens above the cap of {cap}")
    return Count(tokens, None)


def ttft_by_cache(runs: Sequence[Rates]) -> TtftByCache:
    """TTFT of one prompt's runs, in the order they were sent, sorted by what the prefix cache did."""
    cold_s: float | None = None
    warm: list[float] = []
    missed: list[float] = []
    unknown: list[float] = []
    for number, run in enumerate(runs):
        if run.ttft_s is None:
            continue
        if run.cached_tokens is None:
            unknown.append(run.ttft_s)
        elif run.cached_tokens > 0:
            warm.append(run.ttft_s)
        elif number == 0:
            cold_s = run.ttft_s
        else:
            missed.append(run.ttft_s)
    return TtftByCache(
        cold_s=cold_s,
        warm_s=tuple(warm),
        missed_s=tuple(missed),
        unknown_s=tuple(unknown),
        warm_median_s=median(warm) if warm else None,
    )


def delivery_gaps(deltas: Sequence[Delta]) -> Gaps:
    """Gaps between the reads that brought text; the 99th percentile is the nearest rank."""
    arrivals = sorted({delta.at_s for delta in deltas})
    gaps = sorted(later - sooner for sooner, later in pairwise(arrivals))
    if not gaps:
        return Gaps(deltas=len(deltas), deliveries=len(arrivals))
    return Gaps(
        deltas=len(deltas),
        deliveries=len(arrivals),
        median_s=median(gaps),
        p99_s=gaps[ceil(0.99 * len(gaps)) - 1],
        max_s=gaps[-1],
    )


def delivery_is_bursty(deltas: Sequence[Delta]) -> bool:
    """Whether most of the text came in the last delivery, after several earlier ones.

    Then the stream shows the pace of a delivery loop and not that of generation.
    """
    sizes: list[int] = []
    began_s = -SAME_INSTANT_S
    for delta in deltas:
        if sizes and delta.at_s - began_s < SAME_INSTANT_S:
            sizes[-1] += delta.chars
        else:
            sizes.append(delta.chars)
            began_s = delta.at_s
    return len(sizes) >= PACED_DELIVERIES and 2 * sizes[-1] > sum(sizes)


def _decode_absent(response: Response, count: Count, unpaced: bool) -> str | None:
    if not response.streamed:
        return "not_streamed"
    timings = response.timings
    if timings.ttft_s is None:
        return "no_text_delta"
    if timings.last_text_s is None or timings.last_text_s <= timings.ttft_s:
        return "one_text_delivery"
    return "delivery_not_generation_paced" if unpaced else count.absent


def _flags(response: Response, unpaced: bool) -> Iterator[str]:
    if unpaced:
        yield "delivery_not_generation_paced"
    if response.deltas and any(delta.tokens is None for delta in response.deltas):
        yield "tokens_interpolated"


def _span_exact(response: Response, count: Count, absent: str | None) -> Measure:
    """Like `decode_span`, less all tokens of the first delivery: exact where one delta holds several."""
    first_s, last_s = response.timings.ttft_s, response.timings.last_text_s
    first = [delta.tokens for delta in response.deltas if delta.at_s == first_s]
    known = [tokens for tokens in first if tokens is not None]
    if absent is None and (not known or len(known) < len(first)):
        absent = "tokens_per_delta_unknown"
    tokens = None if count.tokens is None else count.tokens - sum(known)
    return _rate("decode_span_exact", tokens, _between(first_s, last_s), absent)


def _prefill(response: Response, caching: bool) -> Measure:
    absent, tokens = None, None
    usage, ttft_s = response.usage, response.timings.ttft_s
    if not response.streamed:
        absent = "not_streamed"
    elif ttft_s is None:
        absent = "no_text_delta"
    elif usage is None or not usage.prompt_tokens:
        absent = "prompt_tokens_unknown"
    elif usage.cached_tokens is None and caching:
        absent = "cached_tokens_unknown"
    else:
        tokens = usage.prompt_tokens - (usage.cached_tokens or 0)
        absent = None if tokens > 0 else "whole_prompt_cached"
    return _rate("prefill", tokens, ttft_s, absent)


def _rate(name: str, tokens: int | None, seconds: float | None, absent: str | None) -> Measure:
    value = None
    if absent is None:
        if tokens is None or tokens <= 0:
            absent = "no_tokens_to_divide"
        elif seconds is None or seconds <= 0:
            absent = "no_time_to_divide_by"
        else:
            value = tokens / seconds
    n = max(tokens or 0, 0)
    return Measure(name=name, formula=FORMULAS[name], unit="tok/s", n=n, value=value, absent=absent)


def _between(start_s: float | None, end_s: float | None) -> float | None:
    return None if start_s is None or end_s is None else end_s - start_s


def _rest(tokens: int | None) -> int | None:
    return None if tokens is None else tokens - 1
