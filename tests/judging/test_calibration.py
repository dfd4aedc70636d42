from __future__ import annotations

import json
from typing import Any

import pytest

from armgate.judging.calibration import compare, level_error
from armgate.model.exchange import Clock, Exchange, Fate, Frame

RECEIVED = 1000.0
ZERO = 999.999
"""The client handed its request over a millisecond before the server had it."""


def event(at_s: float, obj: dict[str, Any]) -> Frame:
    return Frame(at_s, b"data: " + json.dumps(obj).encode() + b"\n\n")


def chunk(written: float, delta: dict[str, str], finish: str | None = None, **more: float) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "token_ids": [1, 2, 3]}
    return {"choices": [choice], "written": written, **more}


def streamed(delays_s: list[float], late_s: float = 0.0, **changes: Any) -> Exchange:
    """Three tokens every 0.1 s from 0.2 s on, each stamped `delays_s` after it was written."""
    frames = []
    for number, delay_s in enumerate(delays_s):
        due = RECEIVED + 0.2 + 0.1 * number
        written = due + late_s
        frames.append(event(written + delay_s - ZERO, chunk(written, {"content": "a b c"}, due=due)))
    end = RECEIVED + 0.2 + 0.1 * (len(delays_s) - 1) + late_s
    frames.append(event(end + delays_s[-1] - ZERO, chunk(end, {}, finish="stop")))
    counts = {"prompt_tokens": 10, "completion_tokens": 3 * len(delays_s)}
    usage = {**counts, "prompt_tokens_details": {"cached_tokens": 0}}
    frames.append(event(9.0, {"choices": [], "usage": usage, "received": RECEIVED, "written": end}))
    frames.append(Frame(9.0, b"data: [DONE]\n\n"))
    fields: dict[str, Any] = {"request": {}, "status": 200, "headers": {}, "fate": Fate.COMPLETE}
    clock = Clock(zero_s=ZERO, scheduled_s=-0.02)
    return Exchange(**{**fields, "frames": tuple(frames), "clock": clock, **changes})


def test_a_steady_delay_is_an_error_of_ttft_and_of_no_rate_over_a_span() -> None:
    level = level_error([streamed([0.004] * 11)] * 3, streams=3, deltas_per_s=30.0, cpu_s=0.0033)
    assert level.stamp_delay_s.median == pytest.approx(0.004, abs=1e-6)
    assert (level.stamp_delay_s.n, level.exchanges, level.ttft_error_s.n) == (33, 3, 3)
    assert level.ttft_error_s.median == pytest.approx(0.005, abs=1e-6), "the way to the server included"
    assert level.rate_errors["decode_span"].worst == pytest.approx(0.0, abs=1e-6)
    assert level.rate_errors["decode_wall"].worst == pytest.approx(0.0, abs=1e-6)
    assert level.rate_errors["end_to_end"].worst == pytest.approx(1.2 / 1.205 - 1, abs=1e-6)
    assert level.rate_errors["prefill"].worst == pytest.approx(0.2 / 0.205 - 1, abs=1e-6)
    assert level.hand_over_s.median == 0.02
    assert level.cpu_s_per_delta == pytest.approx(1e-4)


def test_a_last_delta_that_is_stamped_late_bends_the_rates() -> None:
    errors = level_error([streamed([0.0] * 10 + [0.01])], 1, 10.0, 0.0).rate_errors
    assert errors["decode_span"].median == pytest.approx(1.0 / 1.01 - 1, abs=1e-6)
    assert errors["decode_span_exact"].median == pytest.approx(1.0 / 1.01 - 1, abs=1e-6)


def test_what_the_server_is_late_is_no_error_of_the_client() -> None:
    level = level_error([streamed([0.001] * 5, late_s=0.05)], 1, 10.0, 0.0)
    assert level.server_lateness_s.median == pytest.approx(0.05)
    assert level.ttft_error_s.median == pytest.approx(0.002, abs=1e-6)
    assert level.stamp_delay_s.worst == pytest.approx(0.001, abs=1e-6)


def test_most_errors_are_no_farther_from_zero_than_the_99th_percentile() -> None:
    level = level_error([streamed([0.001] * 99 + [-0.5])], 1, 10.0, 0.0)
    assert level.stamp_delay_s.p99 == pytest.approx(0.001, abs=1e-6)
    assert level.stamp_delay_s.worst == pytest.approx(-0.5, abs=1e-6)


def test_a_stream_that_broke_is_not_compared() -> None:
    whole = streamed([0.001] * 5)
    with pytest.raises(ValueError, match="no whole stream"):
        compare(whole.model_copy(update={"frames": whole.frames[:3], "fate": Fate.DROPPED}))
    with pytest.raises(ValueError, match="no whole stream"):
        compare(whole.model_copy(update={"frames": ()}))
