"""`speed`: rates by named formula, per prompt kind; prompts of different kinds are never pooled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from armgate.judging.protocol import conclude, failed, needs, passed, unsound
from armgate.judging.rates import rates_of
from armgate.model.arms import Arm
from armgate.model.base import Json
from armgate.model.evidence import GateEvidence, Sample
from armgate.model.gates import Gate
from armgate.model.measures import Rates
from armgate.model.outcome import Family, Outcome, SampleVerdict, Verdict, Violation
from armgate.model.plan import Plan

Summary = dict[str, dict[str, dict[str, Json]]]


class Speed:
    family = Family.MEASUREMENT
    compares = False
    options: Mapping[str, type] = {"output_tokens": int}

    def problems(self, gate: Gate) -> Sequence[tuple[str, str]]:
        return needs(gate, "probes")

    def judge(self, evidence: GateEvidence, plan: Plan) -> Verdict:
        samples = [unsound(sample, evidence) or _judged(sample, evidence) for sample in evidence.samples]
        sound = {v.sample for v in samples if v.outcome is Outcome.PASSED}
        summary = by_probe((s for s in evidence.samples if s.id in sound), evidence.arm)
        violations = [*_missed(evidence.gate, summary)]
        return conclude(evidence, samples, violations, measurements={"rates": summary})


def sample_rates(sample: Sample, arm: Arm) -> Rates:
    cap = sample.exchange.request.get("max_tokens")
    caching = arm.serve.get("enable_prefix_caching") is not False
    return rates_of(sample.response, cap if isinstance(cap, int) else None, caching)


def by_probe(samples: Iterable[Sample], arm: Arm) -> Summary:
    """Probe -> measure -> formula, unit, values in the order sent, n, median, min and max."""
    measured: dict[str, list[Rates]] = {}
    for sample in samples:
        measured.setdefault(sample.probe.id, []).append(sample_rates(sample, arm))
    return {probe: _summary(rates) for probe, rates in measured.items()}


def _summary(rates: Sequence[Rates]) -> dict[str, dict[str, Json]]:
    out = {"ttft": _figures("ttft", "s", [r.ttft_s for r in rates if r.ttft_s is not None])}
    for measures in zip(*(one.measures() for one in rates), strict=True):
        values = [measure.value for measure in measures if measure.value is not None]
        out[measures[0].name] = _figures(measures[0].formula, measures[0].unit, values)
        absent = sorted({measure.absent for measure in measures if measure.absent is not None})
        if absent:
            out[measures[0].name]["absent"] = absent
    return out


def _figures(formula: str, unit: str, values: Sequence[float]) -> dict[str, Json]:
    figures: dict[str, Json] = {"formula": formula, "unit": unit, "n": len(values), "values": list(values)}
    if values:
        figures |= {"median": median(values), "min": min(values), "max": max(values)}
    return figures


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


def _missed(gate: Gate, summary: Summary) -> Iterable[Violation]:
    """Declared bounds that a prompt's median does not keep."""
    for probe, figures in summary.items():
        for name, bound in gate.threshold.at_least.items():
            value = figures.get(name, {}).get("median")
            if value is not None and value < bound:
                yield _violation(f"{probe}: median {name} {value:.4g} is below {bound:g}")
        for name, bound in gate.threshold.at_most.items():
            value = figures.get(name, {}).get("median")
            if value is not None and value > bound:
                yield _violation(f"{probe}: median {name} {value:.4g} is above {bound:g}")


def _violation(message: str) -> Violation:
    return Violation(clause="threshold", message=message, family=Family.MEASUREMENT)
