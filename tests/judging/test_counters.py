from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armgate.judging.counters import (
    acceptance_from_counts,
    counter_deltas,
    gauge,
    in_flight_tokens,
    reset_evidence,
)
from armgate.judging.interference import interference
from armgate.model.evidence import Counters
from armgate.model.measures import CounterDeltas, Traffic

DRAFTS = "vllm:spec_decode_num_drafts"
PROPOSED = "vllm:spec_decode_num_draft_tokens"
ACCEPTED = "vllm:spec_decode_num_accepted_tokens"
POSITION = "vllm:spec_decode_num_accepted_tokens_per_pos"


def page(**series: float) -> Counters:
    return Counters(available=True, at_s=0.0, series=series)


def labelled(name: str, value: float, **labels: str) -> dict[str, float]:
    inner = ",".join(f'{k}="{v}"' for k, v in sorted({"model_name": "m", "engine": "0", **labels}.items()))
    return {f"{name}{{{inner}}}": value}


def spec(
    drafts: float, proposed: float, positions: list[float], suffix: str = "_total", engine: str = "0"
) -> dict[str, float]:
    series = labelled(DRAFTS + suffix, drafts, engine=engine)
    series |= labelled(PROPOSED + suffix, proposed, engine=engine)
    series |= labelled(ACCEPTED + suffix, sum(positions), engine=engine)
    for number, count in enumerate(positions):
        series |= labelled(POSITION + suffix, count, engine=engine, position=str(number))
    return series


@pytest.mark.parametrize("suffix", ["_total", ""])
def test_acceptance_comes_from_the_gain_and_not_from_lifetime_totals(suffix: str) -> None:
    deltas = counter_deltas(
        page(**spec(100, 300, [90, 60, 30], suffix)), page(**spec(300, 900, [270, 180, 90], suffix))
    )
    found = deltas.acceptance
    assert found is not None
    assert (found.drafts, found.draft_tokens, found.accepted_tokens) == (200, 600, 360)
    assert found.rate.value == pytest.approx(0.6)
    assert found.mean_length.value == pytest.approx(2.8)
    assert found.mean_accepted.value == pytest.approx(1.8)
    assert found.per_position == pytest.approx((0.9, 0.6, 0.3))
    assert deltas.moved is True
    assert (found.rate.n, found.mean_length.n) == (600, 200)


def test_several_engines_behind_one_page_are_summed() -> None:
    before = page(**spec(0, 0, [0, 0], engine="0"), **spec(50, 100, [40, 10], engine="1"))
    after = page(**spec(10, 20, [10, 10], engine="0"), **spec(60, 120, [40, 10], engine="1"))
    found = counter_deltas(before, after).acceptance
    assert found is not None
    assert (found.drafts, found.accepted_tokens, found.per_position) == (20, 20, (0.5, 0.5))


def test_counters_that_do_not_move_say_so() -> None:
    still = page(**spec(7, 21, [3, 2, 1]))
    deltas = counter_deltas(still, still)
    assert deltas.moved is False
    assert deltas.acceptance is not None
    assert deltas.acceptance.rate.absent == "no_drafts"
    assert deltas.acceptance.mean_length.value is None
    assert deltas.acceptance.per_position is None


def test_an_arm_without_speculation_has_no_acceptance_and_no_zero() -> None:
    one = page(**labelled("vllm:generation_tokens_total", 5))
    deltas = counter_deltas(one, page(**labelled("vllm:generation_tokens_total", 9)))
    assert (deltas.moved, deltas.acceptance, deltas.generation_tokens) == (None, None, 4)


def test_ten_positions_are_ordered_as_numbers() -> None:
    before, after = spec(0, 0, [0] * 11), spec(10, 110, [10 - i for i in range(11)])
    found = counter_deltas(page(**before), page(**after)).acceptance
    assert found is not None
    assert found.per_position == tuple((10 - i) / 10 for i in range(11))


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        (
            {"process_start_time_seconds": 1.7e9, "vllm:generation_tokens_total": 5000.0},
            {"process_start_time_seconds": 1.7e9 + 900, "vllm:generation_tokens_total": 9100.0},
            "process_start_time_seconds changed",
        ),
        (
            {"vllm:generation_tokens_total": 5000.0},
            {"vllm:generation_tokens_total": 1200.0},
            "fell from 5000 to 1200",
        ),
        ({"vllm:generation_tokens_total": 5000.0, "a": 1.0}, {"a": 1.0}, "vanished"),
        ({"other_total": 3.0}, {"other_total": 2.0}, "other_total fell"),
        ({f"{DRAFTS}": 3.0}, {f"{DRAFTS}": 2.0}, "fell"),
        ({"h_count": 3.0, "h_sum": 1.0}, {"h_count": 2.0, "h_sum": 1.0}, "h_count fell"),
    ],
)
def test_a_reset_voids_the_whole_window(before: dict[str, float], after: dict[str, float], says: str) -> None:
    deltas = counter_deltas(page(**before), page(**after))
    assert deltas.reset is not None
    assert says in deltas.reset
    assert deltas.reason == "counter_reset"
    derived = (
        deltas.prompt_tokens,
        deltas.generation_tokens,
        deltas.acceptance,
        deltas.finished,
        deltas.moved,
    )
    assert derived == (None,) * 5


def test_a_gauge_that_falls_is_no_reset() -> None:
    before = page(
        **labelled("vllm:num_requests_running", 3), process_resident_memory_bytes=9.0, workers_count=4.0
    )
    after = page(
        **labelled("vllm:num_requests_running", 0), process_resident_memory_bytes=5.0, workers_count=2.0
    )
    assert reset_evidence(before, after) is None


def test_a_series_that_only_the_later_scrape_has_gives_nothing() -> None:
    before = page(**labelled("vllm:prompt_tokens_total", 10))
    after = page(**labelled("vllm:prompt_tokens_total", 30), **labelled("vllm:generation_tokens_total", 900))
    deltas = counter_deltas(before, after)
    assert (deltas.prompt_tokens, deltas.generation_tokens) == (20, None)
    assert deltas.reset is None
    assert deltas.reason == "not the same series in both scrapes: generation_tokens"


@pytest.mark.parametrize("missing", ["before", "after"])
def test_no_scrape_is_no_delta(missing: str) -> None:
    there = page(**spec(1, 3, [1, 0, 0]))
    off = Counters(available=False, reason="metrics_empty: HTTP 200 without any text")
    deltas = counter_deltas(off, there) if missing == "before" else counter_deltas(there, off)
    assert not deltas.available
    assert deltas.reset is None
    assert deltas.reason == f"no counters {missing}: metrics_empty: HTTP 200 without any text"
    assert counter_deltas(None, None).reason == "no counters before: not scraped"


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        (labelled("vllm:gpu_cache_usage_perc", 0.37), 0.37),
        (labelled("vllm:gpu_cache_usage_perc", 0.36) | labelled("vllm:kv_cache_usage_perc", 0.37), 0.37),
        (labelled("vllm:kv_cache_usage_perc", 0.37), 0.37),
        (labelled("vllm:num_requests_running", 0.0), None),
    ],
    ids=["old", "both", "new", "none"],
)
def test_an_old_name_beside_a_new_one_is_not_added(series: dict[str, float], expected: float | None) -> None:
    assert gauge(page(**series), "kv_cache_usage") == expected


def test_quiescence_needs_nothing_running_or_waiting_at_either_end() -> None:
    def at(running: float, waiting: float) -> Counters:
        return page(
            **labelled("vllm:num_requests_running", running), **labelled("vllm:num_requests_waiting", waiting)
        )

    assert counter_deltas(at(0, 0), at(0, 0)).quiescent is True
    assert counter_deltas(at(0, 0), at(1, 0)).quiescent is False
    assert counter_deltas(at(0, 1), at(0, 0)).quiescent is False
    assert counter_deltas(page(a=1.0), page(a=1.0)).quiescent is None


def test_tokens_in_flight_are_those_not_yet_summed_over_finished_requests() -> None:
    at = page(
        **labelled("vllm:generation_tokens_total", 500), **labelled("vllm:request_generation_tokens_sum", 200)
    )
    assert in_flight_tokens(at) == 300
    assert counter_deltas(at, at).in_flight_tokens == 300
    assert in_flight_tokens(page(**labelled("vllm:generation_tokens_total", 500))) is None


def finished(**counts: float) -> dict[str, float]:
    out: dict[str, float] = {}
    for reason, count in counts.items():
        out |= labelled("vllm:request_success_total", count, finished_reason=reason)
    return out


def test_requests_are_counted_by_the_reason_they_finished_for() -> None:
    deltas = counter_deltas(
        page(**finished(stop=3, length=1, abort=0)), page(**finished(stop=5, length=1, abort=1))
    )
    assert deltas.finished == {"stop": 2, "length": 0, "abort": 1}
    assert deltas.requests == 3


def test_foreign_traffic_is_what_the_server_counted_beyond_ours() -> None:
    gained = CounterDeltas(available=True, finished={"stop": 5}, prompt_tokens=500, generation_tokens=80)
    ours = Traffic(requests=3, prompt_tokens=300, generation_tokens=60)
    found = interference(gained, ours)
    assert (found.requests, found.prompt_tokens, found.generation_tokens) == (2, 200, 20)
    assert found.foreign is True
    assert interference(gained, Traffic(requests=5, prompt_tokens=500, generation_tokens=80)).foreign is False


def test_unknown_counts_leave_the_question_open() -> None:
    assert interference(CounterDeltas(available=False, reason="off"), Traffic(requests=1)).foreign is None
    reset = interference(
        CounterDeltas(available=True, reset="a fell", reason="counter_reset"), Traffic(requests=1)
    )
    assert (reset.foreign, reset.absent) == (None, "a fell")
    only_tokens = CounterDeltas(available=True, prompt_tokens=9)
    assert interference(only_tokens, Traffic(requests=1)).foreign is None
    assert interference(only_tokens, Traffic(requests=1, prompt_tokens=4)).foreign is True


def test_published_figures_come_out() -> None:
    depth7 = acceptance_from_counts(5439, 38073, 9444, "published")
    depth3 = acceptance_from_counts(6034, 18102, 9197, "published")
    assert depth7.rate.value == pytest.approx(0.24804979907020724)
    assert depth7.mean_length.value == pytest.approx(2.7363485934914507)
    assert depth3.rate.value == pytest.approx(0.5080654071373328)
    assert depth3.mean_length.value == pytest.approx(2.524196221411999)
    assert depth7.source == "published"


def test_only_the_accepted_prefix_counts() -> None:
    found = acceptance_from_counts(1, 4, 1, "counters")
    assert found.definition == "accepted_prefix"
    assert (found.rate.value, found.mean_length.value) == (0.25, 2.0)


@given(st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 10**6)), min_size=1, max_size=4))
def test_a_gain_is_the_sum_over_engines_whatever_the_totals_were(engines: list[tuple[int, int]]) -> None:
    before: dict[str, float] = {}
    after: dict[str, float] = {}
    for engine, (total, gain) in enumerate(engines):
        before |= labelled("vllm:generation_tokens_total", total, engine=str(engine))
        after |= labelled("vllm:generation_tokens_total", total + gain, engine=str(engine))
    assert counter_deltas(page(**before), page(**after)).generation_tokens == sum(gain for _, gain in engines)


def test_a_label_value_with_quotes_and_braces_is_read_back() -> None:
    tricky = {'vllm:request_success_total{finished_reason="a,b}\\"c\\\\",model_name="m"}': 1.0}
    later = dict.fromkeys(tricky, 4.0)
    assert counter_deltas(page(**tricky), page(**later)).finished == {'a,b}"c\\': 3}
