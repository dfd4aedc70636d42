"""Rates of one exchange by named formula; what the exchange does not carry is absent with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from armgate.model.measures import Measure, Rates
from armgate.model.response import Channel, Delta, Response

FORMULAS = {
    "decode_wall": "N/(wall-TTFT)",
    "decode_wall_rest": "(N-1)/(wall-TTFT)",
    "decode_span": "(N-1)/(t_last-t_first)",
    "end_to_end": "N/wall",
    "prefill": "uncached prompt tokens/TTFT",
}
"""N = completion tokens by the server's usage; t_first and t_last = first and last text delta."""

UNSEEN_TOKENS = 64
"""Tokens that may leave no text: end markers, tool-call markup, think tags that a parser removed."""

SAME_INSTANT_S = 0.002
"""Deltas closer than this came in one delivery; the interval is far below any decode step."""

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
        ttft_s=first_s,
        ttft_channel=timings.ttft_channel,
        first_content_s=timings.first_content_s,
        wall_s=wall_s,
        decode_wall=_rate("decode_wall", count.tokens, after_first_s, decode_absent),
        decode_wall_rest=_rate("decode_wall_rest", rest, after_first_s, decode_absent),
        decode_span=_rate("decode_span", rest, _between(first_s, last_s), decode_absent),
        end_to_end=_rate("end_to_end", count.tokens, wall_s, count.absent),
        prefill=_prefill(response, caching),
        flags=("delivery_not_generation_paced",) if unpaced else (),
    )


def completion_count(response: Response, cap: int | None = None) -> Count:
    """The server's completion tokens where they are plausible for what was received.

    Servers are known to send zeros beside text, running totals summed up, and no usage at all; none of
    these is replaced by an estimate.
    """
    usage = response.usage
    if usage is None or usage.completion_tokens is None:
        return Count(None, "usage_missing")
    tokens, text = usage.completion_tokens, _text_bytes(response)
    if tokens == 0 and text:
        return Count(None, "usage_missing: zero tokens beside text")
    if cap is not None and tokens > cap:
        return Count(None, f"usage_implausible: {tokens} tokens above the cap of {cap}")
    if response.token_ids is None and tokens > text + UNSEEN_TOKENS:
        return Count(None, f"usage_implausible: {tokens} tokens for {text} bytes of output")
    return Count(tokens, None)


def delivery_is_bursty(deltas: Sequence[Delta]) -> bool:
    """Whether most of the text came in the last delivery, after several earlier ones.

    Then the stream shows the pace of a delivery loop and not that of generation.
    """
    sizes: list[int] = []
    last_s: float | None = None
    for delta in deltas:
        if last_s is not None and delta.at_s - last_s < SAME_INSTANT_S:
            sizes[-1] += delta.chars
        else:
            sizes.append(delta.chars)
        last_s = delta.at_s
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


def _text_bytes(response: Response) -> int:
    texts = [response.channel(channel) or "" for channel in Channel]
    texts += [call.name or "" for call in response.tool_calls]
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
