from __future__ import annotations

import pytest

from armgate.judging.counters import acceptance_from_counts
from armgate.judging.speculation_log import conflict, from_counters, logged_acceptance, reported

VLLM = (
    "(APIServer pid=7) INFO 02-03 10:00:00 [metrics.py:101] SpecDecoding metrics: "
    "Mean acceptance length: {length}, Accepted throughput: 12.00 tokens/s, "
    "Drafted throughput: 20.00 tokens/s, Accepted: {accepted} tokens, Drafted: {drafted} tokens, "
    "Per-position acceptance rate: 0.900, 0.600, 0.300, "
    "Avg Draft acceptance rate: 60.0%"
)
V0 = (
    "Speculative metrics: Draft acceptance rate: 0.500, System efficiency: 0.400, "
    "Number of speculative tokens: 4, Number of accepted tokens: 2, "
    "Number of draft tokens: 4, Number of emitted tokens: 2."
)
SGLANG = "Decode batch. #running-req: 1, accept len: {length}, accept rate: {rate}, gen throughput: 211.3"


def test_interval_totals_of_the_log_add_up_and_agree_with_the_counters() -> None:
    lines = [
        "INFO something else",
        VLLM.format(length="2.80", accepted=180, drafted=300),
        VLLM.format(length="2.20", accepted=120, drafted=300),
    ]
    (found,) = logged_acceptance(lines)
    assert (found.definition, found.n, found.rate) == ("accepted_prefix", 2, 0.5)
    assert (found.length_low, found.length_high) == (2.20, 2.80)
    counters = from_counters(acceptance_from_counts(200, 600, 300, "counters"))
    assert (counters.rate, counters.length, counters.n) == (0.5, 2.5, 200)
    assert conflict([found, counters]) is None


def test_sources_of_one_definition_that_disagree_are_a_finding_that_shows_both() -> None:
    (logged,) = logged_acceptance([VLLM.format(length="2.80", accepted=240, drafted=300)])
    found = conflict([logged, from_counters(acceptance_from_counts(200, 600, 300, "counters"))])
    assert found is not None
    assert found.kind == "acceptance_sources_conflict"
    assert "server log, totals by interval (accepted_prefix): rate 0.8, n = 1" in found.message
    assert "counters (accepted_prefix): rate 0.5, n = 200" in found.message


def test_the_older_engine_s_rate_is_another_quantity_and_is_not_compared() -> None:
    (older,) = logged_acceptance([V0])
    assert (older.definition, older.rate) == ("all_matches", 0.5)
    assert conflict([older, from_counters(acceptance_from_counts(1, 4, 1, "counters"))]) is None


def test_a_gauge_keeps_its_range_apart() -> None:
    (gauge,) = logged_acceptance(
        [SGLANG.format(length="3.65", rate="0.38"), SGLANG.format(length="5.62", rate="0.66")]
    )
    assert (gauge.definition, gauge.length_low, gauge.length_high) == ("batch_gauge", 3.65, 5.62)
    assert gauge.rate == pytest.approx(0.52)


def test_an_impossible_report_is_no_collapse_but_a_conflict_with_what_the_log_says() -> None:
    silent = reported("response", 0.0, 0)
    assert silent.rate is None
    found = conflict([silent, *logged_acceptance([SGLANG.format(length="4.00", rate="0.80")])])
    assert found is not None
    assert "response: not reported: a rate of 0.0 with a length of 0" in found.message
    assert "rate 0.8" in found.message
    assert conflict([silent]) is None


def test_a_real_zero_is_a_figure() -> None:
    assert reported("response", 0.0, 1.0).rate == 0.0


def test_a_log_without_such_lines_says_nothing() -> None:
    assert logged_acceptance(["INFO ready"]) == ()
    assert logged_acceptance([VLLM.format(length="1.00", accepted=0, drafted=0)]) == ()
