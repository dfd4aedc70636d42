from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armgate.judging.rates import completion_count, delivery_is_bursty, rates_of
from armgate.model.measures import Measure
from armgate.model.response import Channel, Delta, Response, Timings, ToolCall, Usage

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
        "N/wall",
        "uncached prompt tokens/TTFT",
    ]
    assert {measure.unit for measure in rates.measures()} == {"tok/s"}
    assert (rates.decode_span.n, rates.end_to_end.n, rates.prefill.n) == (400, 401, 800)
    assert (rates.completion_tokens, rates.count_source) == (401, "usage")


def test_a_usage_chunk_that_comes_late_moves_only_what_is_defined_over_the_wall() -> None:
    early, late = rates_of(streamed(wall_s=9.0)), rates_of(streamed(wall_s=10.0))
    assert early.decode_span == late.decode_span
    assert early.prefill == late.prefill
    assert value(early.end_to_end) > value(late.end_to_end)


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
    absent = (rates.decode_wall, rates.decode_wall_rest, rates.decode_span, rates.prefill)
    assert [measure.absent for measure in absent] == ["not_streamed"] * 4
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
    assert [m.absent for m in (rates.decode_wall, rates.decode_wall_rest, rates.decode_span)] == [absent] * 3


def test_without_usage_there_is_no_rate_at_all_and_no_estimate() -> None:
    response = streamed().model_copy(update={"usage": None})
    rates = rates_of(response)
    assert all(measure.value is None for measure in rates.measures())
    assert (rates.completion_tokens, rates.count_source, rates.count_absent) == (None, None, "usage_missing")


def test_zero_tokens_beside_text_is_no_usage() -> None:
    count = completion_count(streamed(tokens=0))
    assert count.tokens is None
    assert count.absent == "usage_missing: zero tokens beside text"
    assert completion_count(streamed(tokens=0, content="")).tokens == 0


def test_a_count_above_the_cap_or_beyond_the_bytes_is_not_believed() -> None:
    summed_up = streamed(tokens=19503, content="word " * 10)
    assert (
        completion_count(summed_up, cap=512).absent == "usage_implausible: 19503 tokens above the cap of 512"
    )
    assert completion_count(summed_up).absent == "usage_implausible: 19503 tokens for 50 bytes of output"
    assert rates_of(summed_up).decode_span.value is None
    assert completion_count(streamed(tokens=512), cap=512).tokens == 512


def test_token_ids_and_tool_call_arguments_count_as_output() -> None:
    hidden = streamed(tokens=300, content="").model_copy(update={"token_ids": tuple(range(300))})
    assert completion_count(hidden).tokens == 300
    call = ToolCall(index=0, id="a", name="f", arguments="{" + " " * 300 + "}")
    assert (
        completion_count(streamed(tokens=300, content="").model_copy(update={"tool_calls": (call,)})).tokens
        == 300
    )


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
    assert rates.flags == ("delivery_not_generation_paced",)
    assert rates.decode_span.absent == "delivery_not_generation_paced"
    assert rates.end_to_end.value is not None


def test_a_burst_is_seen_when_it_comes_as_many_deltas_of_one_read() -> None:
    burst = paced([0.92 + i * 1e-5 for i in range(100)], [5] * 100)
    assert delivery_is_bursty((*THROTTLED[:8], *burst))


def test_even_deltas_and_short_answers_are_no_burst() -> None:
    assert not delivery_is_bursty(paced([0.1 * i for i in range(50)], [4] * 50))
    assert not delivery_is_bursty(THROTTLED[-3:])
    assert not delivery_is_bursty(())
    assert rates_of(streamed(deltas=paced([0.1 * i for i in range(9)], [4] * 9))).flags == ()


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
