from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armgate.judging.rates import completion_count, delivery_gaps, delivery_is_bursty, rates_of, ttft_by_cache
from armgate.model.measures import Gaps, Measure, Rates
from armgate.model.response import Channel, Delta, Response, Timings, Usage

TEXT = "x" * 4000


def streamed(
    tokens: int | None = 401,
    ttft_s: float | None = 1.0,
    last_s: float | None = 9.0,
    wall_s: float | None = 11.0,
    prompt: int | None = 900,
    cached: int | None = 100,
    content: str = TEXT,
    deltas: tuple[Delta, ...] = (),
) -> Response:
    return Response(
        content=content,
        usage=Usage(prompt_tokens=prompt, completion_tokens=tokens, cached_tokens=cached),
        streamed=True,
        deltas=deltas,
        timings=Timings(ttft_s=ttft_s, ttft_channel=Channel.CONTENT, last_text_s=last_s, wall_s=wall_s),
    )


def value(measure: Measure) -> float:
    assert measure.value is not None, measure.absent
    return measure.value


def test_each_rate_follows_its_named_formula() -> None:
    rates = rates_of(streamed())
    assert value(rates.decode_wall) == pytest.approx(401 / 10)
    assert value(rates.decode_wall_rest) == pytest.approx(400 / 10)
    assert value(rates.decode_span) == pytest.approx(400 / 8)
    assert value(rates.end_to_end) == pytest.approx(401 / 11)
    assert value(rates.prefill) == pytest.approx(800 / 1.0)
    assert [measure.formula for measure in rates.measures()] == [
        "N/(wall-TTFT)",
        "(N-1)/(wall-TTFT)",
        "(N-1)/(t_last-t_first)",
        "(N-tokens of the first delta)/(t_last-t_first)",
        "N/wall",
        "uncached prompt tokens/TTFT",
    ]
    assert {measure.unit for measure in rates.measures()} == {"tok/s"}
    assert (rates.decode_span.n, rates.end_to_end.n, rates.prefill.n) == (400, 401, 800)
    assert (rates.completion_tokens, rates.count_source) == (401, "usage")


def test_a_finish_that_comes_late_moves_only_what_is_defined_over_the_wall() -> None:
    early, late = rates_of(streamed(wall_s=9.0)), rates_of(streamed(wall_s=10.0))
    assert early.decode_span == late.decode_span
    assert early.prefill == late.prefill
    assert value(early.end_to_end) > value(late.end_to_end)


def test_gaps_are_those_between_deliveries() -> None:
    times = [0.1, 0.2, 0.2, 0.2, 0.5, 0.6]
    gaps = delivery_gaps(paced(times, [3] * 6))
    assert (gaps.deltas, gaps.deliveries) == (6, 4)
    assert (gaps.median_s, gaps.max_s) == (pytest.approx(0.1), pytest.approx(0.3))
    assert delivery_gaps(paced([float(i) ** 2 for i in range(101)], [3] * 101)).p99_s == 197.0
    assert delivery_gaps(paced([0.1, 0.1], [3, 3])) == Gaps(deltas=2, deliveries=1)
    assert rates_of(streamed(deltas=paced(times, [3] * 6))).gaps == gaps


def test_reasoning_before_content_is_counted_over_the_whole_span() -> None:
    response = Response(
        content="c" * 100,
        reasoning="r" * 20000,
        usage=Usage(prompt_tokens=900, completion_tokens=4301),
        streamed=True,
        timings=Timings(
            ttft_s=1.2, ttft_channel=Channel.REASONING, first_content_s=61.23, last_text_s=65.2, wall_s=65.202
        ),
    )
    rates = rates_of(response)
    assert value(rates.decode_span) == pytest.approx(67.19, abs=0.005)
    assert (rates.ttft_s, rates.ttft_channel, rates.first_content_s) == (1.2, "reasoning", 61.23)


def test_a_reply_that_was_not_streamed_has_an_end_to_end_rate_only() -> None:
    response = Response(
        content=TEXT,
        usage=Usage(prompt_tokens=9, completion_tokens=100, cached_tokens=0),
        timings=Timings(wall_s=4.0),
    )
    rates = rates_of(response)
    assert value(rates.end_to_end) == 25.0
    assert [measure.absent for measure in rates.measures()] == [*["not_streamed"] * 4, None, "not_streamed"]
    assert rates.ttft_s is None


@pytest.mark.parametrize(
    ("response", "absent"),
    [
        (streamed(last_s=1.0), "one_text_delivery"),
        (streamed(ttft_s=None, last_s=None), "no_text_delta"),
        (streamed(tokens=None), "usage_missing"),
    ],
)
def test_decode_rates_are_absent_with_the_reason(response: Response, absent: str) -> None:
    rates = rates_of(response)
    assert [measure.absent for measure in rates.measures()[:4]] == [absent] * 4


def test_without_usage_there_is_no_rate_at_all_and_no_estimate() -> None:
    response = streamed().model_copy(update={"usage": None})
    rates = rates_of(response)
    assert all(measure.value is None for measure in rates.measures())
    assert (rates.completion_tokens, rates.count_source, rates.count_absent) == (None, None, "usage_missing")


def doubted(*doubts: str) -> Response:
    usage = Usage(prompt_tokens=22, completion_tokens=19503, trusted=False, doubts=doubts)
    return streamed().model_copy(update={"usage": usage})


def test_a_count_that_is_not_trusted_gives_no_rate() -> None:
    rates = rates_of(doubted("usage_implausible"))
    assert (rates.completion_tokens, rates.count_absent) == (None, "usage_implausible")
    assert [m.absent for m in rates.measures()[:5]] == ["usage_implausible"] * 5


def test_a_count_above_the_cap_is_not_believed() -> None:
    assert (
        completion_count(streamed(tokens=513), 512).absent
        == "usage_implausible: 513 tokens above the cap of 512"
    )
    assert completion_count(streamed(tokens=512), 512).tokens == 512


def in_threes(tokens: int | None = 3) -> Response:
    """Three tokens every 30 ms from 0.2 s on: 100 tok/s in truth, 300 tokens in all."""
    deltas = tuple(
        Delta(at_s=0.2 + 0.03 * i, channel=Channel.CONTENT, chars=12, tokens=tokens) for i in range(100)
    )
    return streamed(tokens=300, ttft_s=0.2, last_s=deltas[-1].at_s, wall_s=4.2, deltas=deltas)


def test_the_exact_span_leaves_out_all_tokens_of_the_first_delta() -> None:
    rates = rates_of(in_threes())
    assert value(rates.decode_span_exact) == pytest.approx(100.0)
    assert value(rates.decode_span) == pytest.approx(100.67, abs=0.01)
    assert rates.flags == ()


def test_without_counts_per_delta_the_tokens_are_interpolated() -> None:
    rates = rates_of(in_threes(None))
    assert rates.decode_span_exact.absent == "tokens_per_delta_unknown"
    assert rates.decode_span.value is not None
    assert rates.flags == ("tokens_interpolated",)


@pytest.mark.parametrize(
    ("prompt", "cached", "caching", "expected"),
    [
        (900, 0, True, 900.0),
        (900, None, False, 900.0),
        (900, None, True, "cached_tokens_unknown"),
        (900, 900, True, "whole_prompt_cached"),
        (0, 0, True, "prompt_tokens_unknown"),
        (None, 0, True, "prompt_tokens_unknown"),
    ],
)
def test_prefill_needs_the_uncached_count(
    prompt: int | None, cached: int | None, caching: bool, expected: float | str
) -> None:
    prefill = rates_of(streamed(prompt=prompt, cached=cached), caching=caching).prefill
    assert (prefill.value if isinstance(expected, float) else prefill.absent) == expected


def paced(times_s: list[float], chars: list[int]) -> tuple[Delta, ...]:
    return tuple(Delta(at_s=t, channel=Channel.CONTENT, chars=c) for t, c in zip(times_s, chars, strict=True))


THROTTLED = paced([0.2, 0.29, 0.38, 0.47, 0.56, 0.65, 0.74, 0.83, 0.921], [3] * 8 + [480])


def test_a_delivery_loop_is_flagged_and_gives_no_decode_rate() -> None:
    rates = rates_of(streamed(ttft_s=0.2, last_s=0.921, wall_s=0.922, deltas=THROTTLED))
    assert "delivery_not_generation_paced" in rates.flags
    assert rates.decode_span.absent == "delivery_not_generation_paced"
    assert rates.end_to_end.value is not None


def test_a_burst_is_seen_when_it_comes_as_many_deltas_of_one_read() -> None:
    burst = paced([0.92 + i * 1e-5 for i in range(100)], [5] * 100)
    assert delivery_is_bursty((*THROTTLED[:8], *burst))


def test_even_deltas_and_short_answers_are_no_burst() -> None:
    assert not delivery_is_bursty(paced([0.1 * i for i in range(50)], [4] * 50))
    assert not delivery_is_bursty(THROTTLED[-3:])
    assert not delivery_is_bursty(())
    fast = paced([0.5 * i for i in range(5)] + [2 + 0.0015 * i for i in range(200)], [4] * 205)
    assert not delivery_is_bursty(fast)


def runs(ttfts_s: list[float | None], cached: list[int | None]) -> list[Rates]:
    return [rates_of(streamed(ttft_s=t, cached=c)) for t, c in zip(ttfts_s, cached, strict=True)]


def test_repeats_of_a_prompt_are_kept_apart_by_what_the_cache_did() -> None:
    dense = ttft_by_cache(runs([2.1, 0.14, 0.138], [0, 7808, 7808]))
    assert (dense.cold_s, dense.warm_median_s, dense.missed_s) == (2.1, pytest.approx(0.139), ())
    hybrid = ttft_by_cache(runs([34.58, 67.83, 5.56], [0, 0, 38400]))
    assert (hybrid.cold_s, hybrid.warm_s, hybrid.missed_s) == (34.58, (5.56,), (67.83,))


def test_a_first_run_that_was_cached_is_not_cold_and_an_unreported_one_is_unknown() -> None:
    found = ttft_by_cache(runs([0.2, 0.3, None], [100, None, 0]))
    assert (found.cold_s, found.warm_s, found.unknown_s, found.missed_s) == (None, (0.2,), (0.3,), ())
    assert ttft_by_cache([]).warm_median_s is None


@given(
    tokens=st.integers(2, 4000),
    ttft_s=st.floats(0.001, 100),
    span_s=st.floats(0.001, 1000),
    tail_s=st.floats(0, 10),
)
def test_rates_order_as_their_windows_do(tokens: int, ttft_s: float, span_s: float, tail_s: float) -> None:
    last_s = ttft_s + span_s
    rates = rates_of(streamed(tokens=tokens, ttft_s=ttft_s, last_s=last_s, wall_s=last_s + tail_s))
    assert value(rates.end_to_end) < value(rates.decode_wall)
    assert value(rates.decode_wall_rest) <= value(rates.decode_span) * (1 + 1e-9)
    assert value(rates.decode_wall_rest) < value(rates.decode_wall)
