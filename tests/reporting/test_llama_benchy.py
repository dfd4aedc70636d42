"""An arm's speed gates in llama-benchy's form: its fields, its units, nothing made up."""

import dataclasses
import statistics
from typing import Any

import pytest

from armgate.model.outcome import Outcome
from armgate.reporting.facts import RunFacts
from armgate.reporting.llama_benchy import llama_benchy
from armgate.reporting.page.resources import interference_rows
from armgate.reporting.page.speed import measured_values

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


def changed(run: RunFacts, **update: Any) -> RunFacts:
    """The run with another verdict of the base arm's speed gate."""
    facts = run.boots["base", 0]
    verdict = facts.verdicts["speed"].model_copy(update=update)
    boot = dataclasses.replace(facts, verdicts={**facts.verdicts, "speed": verdict})
    return dataclasses.replace(run, boots={**run.boots, ("base", 0): boot})


def test_figures_that_do_not_stand_are_on_no_page_and_in_no_export(mixed_facts: RunFacts) -> None:
    void = changed(mixed_facts, outcome=Outcome.VOID, cause="foreign_traffic")
    assert llama_benchy(void, "base") is None
    of_base = [key for key, arms in measured_values(mixed_facts).items() if "base" in arms]
    assert of_base
    assert not any("base" in arms for arms in measured_values(void).values())


def test_a_sample_that_is_in_no_figure_is_in_no_export(mixed_facts: RunFacts) -> None:
    verdict = mixed_facts.boots["base", 0].verdicts["speed"]
    first = {"sample": verdict.samples[0].sample, "ttft_s": 9.0}
    run = changed(mixed_facts, measurements={**verdict.measurements, "excluded": {"cold": [first]}})
    report, whole = llama_benchy(run, "base"), llama_benchy(mixed_facts, "base")
    assert whole is not None
    left = sum(len(one["e2e_ttft"]["values"]) for one in report["benchmarks"]) if report else 0
    assert left == sum(len(one["e2e_ttft"]["values"]) for one in whole["benchmarks"]) - 1


@pytest.mark.parametrize("ours", [{"unanswered": 1}, {"preemptions": 1, "requests": 0}])
def test_the_page_calls_foreign_what_the_verdict_does(mixed_facts: RunFacts, ours: dict[str, int]) -> None:
    found = {"requests": 1, "prompt_tokens": 50, **ours}
    run = changed(mixed_facts, measurements={"interference": found})
    (row,) = [row for row in interference_rows(run) if row.title == "base 00"]
    assert "speed" not in [gate for gate, *_ in row.foreign]
