"""An arm's speed gates in llama-benchy's form: its fields, its units, nothing made up."""

import statistics

from armgate.reporting.facts import RunFacts
from armgate.reporting.llama_benchy import llama_benchy

TOP = {
    "version", "timestamp", "latency_mode", "latency_ms", "model", "prefix_caching_enabled",
    "max_concurrency", "benchmarks",
}  # fmt: skip
RUN = {
    "concurrency", "context_size", "prompt_size", "response_size", "is_context_prefill_phase",
    "pp_throughput", "pp_req_throughput", "tg_throughput", "tg_req_throughput", "peak_throughput",
    "peak_req_throughput", "ttfr", "est_ppt", "e2e_ttft", "throughput_over_time",
    "requests_throughput_over_time",
}  # fmt: skip


def test_the_form_is_llama_benchys(mixed_facts: RunFacts) -> None:
    report = llama_benchy(mixed_facts, "base")
    assert report is not None
    assert report.keys() == TOP
    assert all(run.keys() == RUN for run in report["benchmarks"])
    metrics = [run[name] for run in report["benchmarks"] for name in ("pp_throughput", "e2e_ttft")]
    assert all(metric.keys() == {"mean", "std", "values"} for metric in metrics if metric)


def test_figures_are_the_samples_own(mixed_facts: RunFacts) -> None:
    verdict = mixed_facts.boots["base", 0].verdicts["speed"]
    ttft_ms = [1000 * sample.detail["rates"]["ttft_s"] for sample in verdict.samples]
    report = llama_benchy(mixed_facts, "base")
    assert report is not None
    (run,) = report["benchmarks"]
    assert run["e2e_ttft"]["values"] == ttft_ms
    assert run["e2e_ttft"]["std"] == statistics.pstdev(ttft_ms)
    assert run["response_size"] == 2
    assert run["ttfr"] is None


def test_an_arm_that_measured_nothing_has_no_report(mixed_facts: RunFacts) -> None:
    assert llama_benchy(mixed_facts, "sick") is None
