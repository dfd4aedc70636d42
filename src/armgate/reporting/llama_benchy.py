"""`arms/<arm>/llama-benchy.json`: an arm's speed gates in the form of llama-benchy's JSON report.

Form: `BenchmarkReport` of llama-benchy 0.4.0. Rates are tokens a second over one request, times are
milliseconds, `std` is the population's. What this run did not measure is null and never estimated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, median, pstdev

from armgate.model.base import Json
from armgate.model.gates import Probe
from armgate.model.outcome import Outcome, Verdict
from armgate.reporting.facts import RunFacts

Rates = Mapping[str, Json]


def llama_benchy(run: RunFacts, arm: str) -> dict[str, Json] | None:
    """The report of one arm, or `None` where no sample of it carries rates."""
    plan = run.plan_file.plan
    grouped: dict[tuple[str, str], list[Rates]] = {}
    for name, _, verdict in run.verdicts():
        if name == arm and verdict.check == "speed" and verdict.figures_stand:
            _collect(verdict, grouped)
    if not grouped:
        return None
    probes = {(p.gate.id, probe.id): probe for p in plan.gates for probe in p.gate.probes}
    batches = _batches(run, arm)
    runs = [_benchmark(probes[key], rates, batches.get(key, [])) for key, rates in grouped.items()]
    return {
        "version": f"armgate {plan.armgate_version}",
        "timestamp": run.plan_file.created_utc,
        "latency_mode": "none",
        "latency_ms": 0.0,
        "model": f"{plan.arms[arm].target} ({arm})",
        "prefix_caching_enabled": plan.arms[arm].serve.get("enable_prefix_caching") is not False,
        "max_concurrency": max(one["concurrency"] for one in runs),
        "benchmarks": runs,
    }


def _collect(verdict: Verdict, grouped: dict[tuple[str, str], list[Rates]]) -> None:
    """Rates of the samples that are in the verdict's own figures."""
    excluded = verdict.measurements.get("excluded") or {}
    left_out = {one["sample"] for why in excluded.values() for one in why}
    for sample in verdict.samples:
        rates = sample.detail.get("rates")
        if rates and sample.sample not in left_out and sample.outcome is Outcome.PASSED:
            probe = sample.sample.rpartition(".")[0]
            grouped.setdefault((verdict.gate, probe), []).append(rates)


def _batches(run: RunFacts, arm: str) -> dict[tuple[str, str], list[float]]:
    """Rates over the windows of batches, where requests were under way together."""
    found: dict[tuple[str, str], list[float]] = {}
    for name, _, verdict in run.verdicts():
        if name == arm and verdict.figures_stand:
            for probe, figures in (verdict.measurements.get("rates") or {}).items():
                values = figures.get("batch_window", {}).get("values", [])
                found.setdefault((verdict.gate, probe), []).extend(values)
    return found


def _benchmark(probe: Probe, rates: Sequence[Rates], batches: list[float]) -> dict[str, Json]:
    """One point of a grid. Of several streams at once the total is that of their batches' windows."""
    prefill, decode = _metric(_values(rates, "prefill")), _metric(_values(rates, "decode_span"))
    alone, depth = probe.concurrency == 1, probe.context_depth or 0
    return {
        "concurrency": probe.concurrency,
        "context_size": depth,
        "prompt_size": max(_tokens(rates, "prompt_tokens") - depth, 0),
        "response_size": _tokens(rates, "completion_tokens"),
        "is_context_prefill_phase": False,
        "pp_throughput": prefill if alone else None,
        "pp_req_throughput": prefill,
        "tg_throughput": decode if alone else _metric(batches),
        "tg_req_throughput": decode,
        "peak_throughput": None,
        "peak_req_throughput": None,
        "ttfr": None,
        "est_ppt": None,
        "e2e_ttft": _metric([1000 * one["ttft_s"] for one in rates if one.get("ttft_s") is not None]),
        "throughput_over_time": None,
        "requests_throughput_over_time": None,
    }


def _values(rates: Sequence[Rates], name: str) -> list[float]:
    values = [one.get(name, {}).get("value") for one in rates]
    return [value for value in values if value is not None]


def _tokens(rates: Sequence[Rates], name: str) -> int:
    known = [one[name] for one in rates if one.get(name) is not None]
    return round(median(known)) if known else 0


def _metric(values: list[float]) -> dict[str, Json] | None:
    return {"mean": fmean(values), "std": pstdev(values), "values": values} if values else None
