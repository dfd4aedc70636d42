"""`acceptance`: what the engine's own speculation counters gained while this gate's probes ran."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from armgate.judging.bounds import Bounds, held
from armgate.judging.counter_windows import acceptance_by_probe, acceptance_range
from armgate.judging.counters import counter_deltas
from armgate.judging.protocol import conclude, needs, passed, unsound
from armgate.judging.request_metrics import reported_acceptance, requests_acceptance
from armgate.judging.speculation_log import conflict, from_counters, logged_acceptance
from armgate.model.base import Json
from armgate.model.evidence import Counters, GateEvidence, Sample
from armgate.model.gates import Gate, Probe
from armgate.model.measures import Acceptance, CounterDeltas, SourcedAcceptance
from armgate.model.outcome import Family, Finding, Outcome, SampleVerdict, Verdict
from armgate.model.plan import Plan

COLLAPSE_SHARE = 0.5
"""Where the deepest context keeps no more than this share of the accepted tokens of the shallowest."""

BOUNDED = ("acceptance_rate", "mean_accepted", "mean_length")


class AcceptanceCheck:
    family = Family.MEASUREMENT
    compares = False
    options: Mapping[str, type] = {}
    bounds = Bounds(at_least=BOUNDED, at_most=BOUNDED)

    def problems(self, gate: Gate) -> Sequence[tuple[str, str]]:
        return needs(gate, "probes")

    def judge(self, evidence: GateEvidence, plan: Plan) -> Verdict:
        deltas = counter_deltas(evidence.counters_before, evidence.counters_after)
        everything = (*evidence.warm_ups, *evidence.samples, *evidence.repeats)
        own = requests_acceptance(everything)
        sources = _sources(deltas, own, everything, evidence.surroundings.log_lines)
        cause = _no_figure(deltas, evidence.arm.depth, own, sources)
        samples = [unsound(sample, evidence) or _judged(sample, cause) for sample in evidence.samples]
        by_probe = _by_probe(evidence)
        figure = deltas.acceptance or own
        bounded = held(evidence.gate.threshold, {"": _figures(figure)})
        return conclude(
            evidence,
            samples,
            bounded.violations,
            without_figure=bounded.without_figure,
            findings=(
                *_findings(figure),
                *_disagreements(deltas.acceptance, own, sources),
                *_collapses(evidence.gate.probes, by_probe),
            ),
            measurements={
                "depth": evidence.arm.depth,
                "range": acceptance_range(_readings(evidence)).model_dump(mode="json", exclude_none=True),
                "by_probe": {name: _dumped(one) for name, one in by_probe.items()},
                "per_request": _dumped(own),
                "sources": [source.model_dump(mode="json", exclude_none=True) for source in sources],
            },
        )


def _readings(evidence: GateEvidence) -> list[Counters]:
    during = [reading.counters for reading in evidence.surroundings.during]
    ends = (evidence.counters_before, *during, evidence.counters_after)
    return [one for one in ends if one is not None and one.available]


def _sources(
    deltas: CounterDeltas, own: Acceptance | None, samples: Sequence[Sample], log: Iterable[str]
) -> tuple[SourcedAcceptance, ...]:
    """Every source that says anything about acceptance, each with its definition."""
    counted = [from_counters(one) for one in (deltas.acceptance, own) if one is not None and one.drafts]
    return (*counted, *reported_acceptance(samples), *logged_acceptance(log))


def _no_figure(
    deltas: CounterDeltas, depth: int, own: Acceptance | None, sources: Sequence[SourcedAcceptance]
) -> str | None:
    """Why nothing carries a figure for this arm, as a void's cause."""
    if deltas.reset:
        return "counter_reset"
    if depth and deltas.moved is not True:
        if deltas.moved is None and _drafted(own, sources):
            return None
        return "draft_counters_never_moved" if deltas.available else "counters_unavailable"
    if not deltas.available:
        return "counters_unavailable"
    if not depth and deltas.moved:
        return "drafts_without_a_draft"
    return None


def _drafted(own: Acceptance | None, sources: Sequence[SourcedAcceptance]) -> bool:
    """Whether another source than the counters shows that drafts were made (SGLang has no such counters)."""
    return bool(own and own.drafts) or any(source.rate is not None for source in sources)


def _by_probe(evidence: GateEvidence) -> Mapping[str, Acceptance]:
    """By the requests' own figures where the server gives them, else by the counters between probes."""
    samples: dict[str, list[Sample]] = {}
    for sample in evidence.samples:
        samples.setdefault(sample.probe.id, []).append(sample)
    own = {name: requests_acceptance(of_probe) for name, of_probe in samples.items()}
    known = {name: one for name, one in own.items() if one is not None}
    return known or acceptance_by_probe(evidence.counters_before, evidence.surroundings.during)


def _dumped(acceptance: Acceptance | None) -> Json:
    return None if acceptance is None else acceptance.model_dump(mode="json", exclude_none=True)


def _judged(sample: Sample, cause: str | None) -> SampleVerdict:
    if cause is None:
        return passed(sample)
    return SampleVerdict(sample=sample.id, outcome=Outcome.VOID, cause=cause, evidence=(sample.path,))


def _figures(acceptance: Acceptance | None) -> Mapping[str, float | None]:
    if acceptance is None:
        return {}
    measures = (acceptance.rate, acceptance.mean_accepted, acceptance.mean_length)
    return {measure.name: measure.value for measure in measures}


def _findings(acceptance: Acceptance | None) -> Iterable[Finding]:
    rate = acceptance.rate.value if acceptance is not None else None
    if rate == 1.0:
        yield Finding(kind="acceptance_exactly_one", message="every draft token was accepted: is it a draft?")
    if rate == 0.0:
        yield Finding(kind="acceptance_zero", message="no draft token was accepted")


def _disagreements(
    counted: Acceptance | None, own: Acceptance | None, sources: Sequence[SourcedAcceptance]
) -> Iterable[Finding]:
    """Counters against the requests' own figures, count by count; then every source against every other.

    Totals in a log are left out: their intervals do not begin and end with the gate.
    """
    if counted is not None and own is not None:
        names = ("drafts", "draft_tokens", "accepted_tokens")
        pairs = [(name, getattr(counted, name), getattr(own, name)) for name in names]
        apart = [f"{name} {theirs} against {ours}" for name, theirs, ours in pairs if theirs != ours]
        if apart:
            message = f"counters against per-request metrics: {', '.join(apart)}"
            yield Finding(kind="acceptance_sources_conflict", message=message)
            return
    found = conflict([source for source in sources if not source.by_interval])
    if found is not None:
        yield found


def _collapses(probes: Sequence[Probe], by_probe: Mapping[str, Acceptance]) -> Iterable[Finding]:
    """Acceptance that is lost on the way from the shallowest context to the deepest."""
    depths = {probe.id: probe.context_depth for probe in probes if probe.context_depth is not None}
    known = {
        name: one.mean_accepted.value
        for name, one in by_probe.items()
        if name in depths and one.mean_accepted.value is not None
    }
    if len({depths[name] for name in known}) < 2:
        return
    ordered = sorted(known, key=lambda name: depths[name] or 0)
    first, last = ordered[0], ordered[-1]
    if known[last] <= COLLAPSE_SHARE * known[first] and known[first] > 0:
        message = (
            f"{known[first]:.2f} draft tokens a step were accepted at a context of {depths[first]} tokens, "
            f"{known[last]:.2f} at {depths[last]}"
        )
        yield Finding(kind="acceptance_collapses_with_depth", message=message)
