"""`acceptance`: what the engine's own speculation counters gained while this gate's probes ran."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from armgate.judging.counters import counter_deltas, interference
from armgate.judging.protocol import conclude, needs, passed, unsound
from armgate.model.base import Json
from armgate.model.evidence import GateEvidence, Sample
from armgate.model.gates import Gate
from armgate.model.measures import Acceptance, CounterDeltas, Traffic
from armgate.model.outcome import Family, Finding, Outcome, SampleVerdict, Verdict, Violation
from armgate.model.plan import Plan


class AcceptanceCheck:
    family = Family.MEASUREMENT
    compares = False
    options: Mapping[str, type] = {}

    def problems(self, gate: Gate) -> Sequence[tuple[str, str]]:
        return needs(gate, "probes")

    def judge(self, evidence: GateEvidence, plan: Plan) -> Verdict:
        deltas = counter_deltas(evidence.counters_before, evidence.counters_after)
        cause = _no_figure(deltas, evidence.arm.depth)
        samples = [unsound(sample, evidence) or _judged(sample, cause) for sample in evidence.samples]
        foreign = interference(deltas, _traffic((*evidence.warm_ups, *evidence.samples)))
        measurements: dict[str, Json] = {
            "depth": evidence.arm.depth,
            "counters": deltas.model_dump(mode="json", exclude_none=True),
            "interference": foreign.model_dump(mode="json", exclude_none=True),
        }
        return conclude(
            evidence,
            samples,
            _missed(evidence.gate, deltas.acceptance),
            findings=_findings(deltas.acceptance, foreign.foreign),
            measurements=measurements,
        )


def _no_figure(deltas: CounterDeltas, depth: int) -> str | None:
    """Why the counters carry no figure for this arm, as a void's cause."""
    if not deltas.available or deltas.reset:
        return "counter_reset" if deltas.reset else "counters_unavailable"
    if depth and deltas.moved is not True:
        return "draft_counters_never_moved"
    if not depth and deltas.moved:
        return "drafts_without_a_draft"
    return None


def _judged(sample: Sample, cause: str | None) -> SampleVerdict:
    if cause is None:
        return passed(sample)
    return SampleVerdict(sample=sample.id, outcome=Outcome.VOID, cause=cause, evidence=(sample.path,))


def _traffic(samples: Sequence[Sample]) -> Traffic:
    usages = [sample.response.usage for sample in samples]
    return Traffic(
        requests=len(samples),
        prompt_tokens=_total([usage.prompt_tokens if usage else None for usage in usages]),
        generation_tokens=_total([usage.completion_tokens if usage else None for usage in usages]),
    )


def _total(counts: Sequence[int | None]) -> int | None:
    return None if None in counts else sum(count for count in counts if count is not None)


def _missed(gate: Gate, acceptance: Acceptance | None) -> Iterable[Violation]:
    """Declared bounds on the acceptance rate or the mean lengths that are not kept."""
    if acceptance is None:
        return
    for measure in (acceptance.rate, acceptance.mean_accepted, acceptance.mean_length):
        low, high = (bounds.get(measure.name) for bounds in (gate.threshold.at_least, gate.threshold.at_most))
        if measure.value is None:
            continue
        if (low is not None and measure.value < low) or (high is not None and measure.value > high):
            message = f"{measure.name} is {measure.value:.4g}, outside {low} to {high}"
            yield Violation(clause="threshold", message=message, family=Family.MEASUREMENT)


def _findings(acceptance: Acceptance | None, foreign: bool | None) -> Iterable[Finding]:
    rate = acceptance.rate.value if acceptance is not None else None
    if rate == 1.0:
        yield Finding(kind="acceptance_exactly_one", message="every draft token was accepted: is it a draft?")
    if rate == 0.0:
        yield Finding(kind="acceptance_zero", message="no draft token was accepted")
    if foreign:
        yield Finding(kind="foreign_traffic", message="the server counted traffic that this run did not send")
