"""Readings during a gate keep fewer series than the pages at its ends."""

from armgate.judging.counter_windows import acceptance_by_probe, acceptance_range
from armgate.judging.counters import as_traced
from armgate.model.evidence import CounterReading, Counters

START = "process_start_time_seconds"


def page(drafts: float, started: float = 5.0) -> Counters:
    """A whole page, with counters that nothing here asks for."""
    counts = {
        "vllm:spec_decode_num_drafts_total": drafts,
        "vllm:spec_decode_num_draft_tokens_total": 3 * drafts,
        "vllm:spec_decode_num_accepted_tokens_total": 2 * drafts,
    }
    foreign = {"process_cpu_seconds_total": drafts, 'vllm:other_bucket{le="1"}': drafts}
    return Counters(available=True, series={**counts, **foreign, START: started})


def during(drafts: float, probe: str) -> CounterReading:
    return CounterReading(counters=as_traced(page(drafts)), after_probe=probe)


def test_a_whole_page_before_a_reading_is_no_reset() -> None:
    found = acceptance_by_probe(page(10), [during(20, "p1"), during(40, "p2")])
    assert {probe: one.drafts for probe, one in found.items()} == {"p1": 10, "p2": 20}
    ends = [page(10), as_traced(page(20)), as_traced(page(40)), page(50)]
    assert acceptance_range(ends).windows == 3


def test_a_restart_is_still_seen_in_readings() -> None:
    assert acceptance_by_probe(page(10, started=4.0), [during(20, "p1")]) == {}
