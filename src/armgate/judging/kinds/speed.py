"""`speed`: rates by named formula, per prompt kind; prompts of different kinds are never pooled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from armgate.judging.bounds import Bounds, Medians, held
from armgate.judging.figures import figures
from armgate.judging.idle import after_pause, compilations
from armgate.judging.load_figures import FORMULAS as LOAD_FORMULAS
from armgate.judging.load_figures import excluded, load_figures
from armgate.judging.protocol import conclude, failed, needs, never_only_cold, passed, unsound
from armgate.judging.rates import FORMULAS, rates_of, ttft_by_cache
from armgate.model.arms import Arm
from armgate.model.base import Json
from armgate.model.evidence import GateEvidence, Sample
from armgate.model.gates import Gate
from armgate.model.measures import Rates
from armgate.model.outcome import Family, Finding, Outcome, SampleVerdict, Verdict, Violation
from armgate.model.plan import Plan

Summary = dict[str, dict[str, dict[str, Json]]]

BOUNDED = ("ttft", *FORMULAS, *LOAD_FORMULAS)
"""Every figure is of use in either direction: a rate too high is a workload that was not done."""


class Speed:
    family = Family.MEASUREMENT
    compares = False
    options: Mapping[str, type] = {"output_tokens": int}
    bounds = Bounds(at_least=BOUNDED, at_most=BOUNDED)

    def problems(self, gate: Gate) -> Sequence[tuple[str, str]]:
        return needs(gate, "probes")

    def judge(self, evidence: GateEvidence, plan: Plan) -> Verdict:
        samples = [unsound(sample, evidence) or _judged(sample, evidence) for sample in evidence.samples]
        samples = never_only_cold(samples, evidence.samples)
        sound = {v.sample for v in samples if v.outcome is Outcome.PASSED}
        sent = [s for s in evidence.samples if s.id in sound]
        paused = [s for s in after_pause(sent) if not s.cold]
        late = {s.id for s in paused}
        measured = [s for s in sent if s.id not in late]
        summary = by_probe(measured, evidence.arm, evidence.samples)
        cold = [s for s in (*evidence.warm_ups, *measured) if s.cold]
        bounded = held(evidence.gate.threshold, _medians(evidence.gate, summary))
        return conclude(
            evidence,
            samples,
            bounded.violations,
            without_figure=bounded.without_figure,
            findings=(*_unverified_prefixes(measured), *compilations(measured)),
            measurements={
                "rates": summary,
                "ttft_by_cache": _by_cache(evidence),
                "excluded": excluded(evidence.warm_ups, cold, paused),
            },
        )


def sample_rates(sample: Sample, arm: Arm) -> Rates:
    cap = sample.exchange.request.get("max_tokens")
    caching = arm.serve.get("enable_prefix_caching") is not False
    return rates_of(sample.response, cap if isinstance(cap, int) else None, caching)


def by_probe(samples: Iterable[Sample], arm: Arm, sent: Sequence[Sample]) -> Summary:
    """Probe -> measure -> formula, unit, values in the order sent, n, median, min and max.

    The first request after the boot is left out: it pays for what is compiled and cached only once.
    """
    measured: dict[str, list[Sample]] = {}
    for sample in samples:
        if not sample.cold:
            measured.setdefault(sample.probe.id, []).append(sample)
    return {probe: _summary(of_probe, arm, sent) for probe, of_probe in measured.items()}


def _summary(samples: Sequence[Sample], arm: Arm, sent: Sequence[Sample]) -> dict[str, dict[str, Json]]:
    rates = [sample_rates(sample, arm) for sample in samples]
    out = {"ttft": figures("ttft", "s", [r.ttft_s for r in rates if r.ttft_s is not None])}
    for measures in zip(*(one.measures() for one in rates), strict=True):
        values = [measure.value for measure in measures if measure.value is not None]
        out[measures[0].name] = figures(measures[0].formula, measures[0].unit, values)
        absent = sorted({measure.absent for measure in measures if measure.absent is not None})
        if absent:
            out[measures[0].name]["absent"] = absent
    return out | load_figures(samples, sent)


def _by_cache(evidence: GateEvidence) -> dict[str, Json]:
    """TTFT by what the prefix cache did, warm-ups first as they were sent; the regimes are never averaged."""
    runs: dict[str, list[Rates]] = {}
    for sample in (*evidence.warm_ups, *evidence.samples):
        rates = sample_rates(sample, evidence.arm)
        if rates.cached_tokens is not None and rates.cached_tokens <= sample.context.get(
            "template_tokens", 0
        ):
            # What every prompt begins with is cached even of a prompt that nobody has sent before.
            rates = rates.model_copy(update={"cached_tokens": 0})
        runs.setdefault(sample.probe.id, []).append(rates)
    return {probe: ttft_by_cache(of_probe).model_dump(mode="json") for probe, of_probe in runs.items()}


def _unverified_prefixes(samples: Sequence[Sample]) -> Iterable[Finding]:
    """Fresh prefixes whose freshness the server does not confirm rest on their being drawn alone."""
    prefixed = [s for s in samples if s.probe.prefix is not None and s.probe.prefix.cache == "fresh"]
    if any(s.response.usage is None or s.response.usage.cached_tokens is None for s in prefixed):
        message = (
            "the server reports no cached tokens: that prefixes were fresh follows from their draw alone"
        )
        yield Finding(kind="cached_tokens_not_reported", message=message)


def _judged(sample: Sample, evidence: GateEvidence) -> SampleVerdict:
    """A fixed length is asked for so that all arms do the same work; an early end is another workload."""
    rates = sample_rates(sample, evidence.arm)
    if rates.completion_tokens is None:
        return SampleVerdict(
            sample=sample.id,
            outcome=Outcome.VOID,
            cause="tokens_not_counted",
            evidence=(sample.path,),
            detail={"message": rates.count_absent},
        )
    wanted = evidence.gate.options.get("output_tokens")
    if wanted is not None and rates.completion_tokens != wanted:
        message = f"{rates.completion_tokens} tokens instead of the fixed {wanted}"
        return failed(sample, Violation(clause="output_tokens", message=message, family=Family.MEASUREMENT))
    return passed(sample, rates=rates.model_dump(mode="json", exclude_none=True))


def _medians(gate: Gate, summary: Summary) -> Medians:
    """Of every probe that the gate declares, whether or not a sample of it was sound."""
    probes = dict.fromkeys([*(probe.id for probe in gate.probes), *summary])
    return {
        f"{probe}: median ": {name: one.get("median") for name, one in summary.get(probe, {}).items()}
        for probe in probes
    }
