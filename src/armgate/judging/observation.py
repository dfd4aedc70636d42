"""What every gate's verdict says of its surroundings: counters, others' traffic, restarts, memory.

Applied to each verdict after its own check. What the evidence cannot carry is made void here.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from armgate.judging.attempts import attempts_of, retried
from armgate.judging.counter_windows import gauge_ranges
from armgate.judging.counters import counter_deltas, reset_evidence
from armgate.judging.interference import completed_between, interference, traffic_of
from armgate.judging.memory import summarise_memory
from armgate.model.base import Json
from armgate.model.evidence import GateEvidence
from armgate.model.measures import CounterDeltas, Interference
from armgate.model.outcome import Finding, Outcome, Verdict


def observed(verdict: Verdict, evidence: GateEvidence) -> Verdict:
    """The verdict with its surroundings; void where they deprive it of its evidence."""
    deltas = counter_deltas(evidence.counters_before, evidence.counters_after)
    sent = traffic_of((*evidence.warm_ups, *evidence.samples, *evidence.repeats))
    before = completed_between(evidence.surroundings.previous, evidence.counters_before)
    others = interference(deltas, sent, before)
    update: dict[str, object] = {
        "measurements": {**verdict.measurements, **_measurements(evidence, deltas, others)},
        "findings": (*verdict.findings, *_findings(deltas, others), *retried(evidence.samples)),
    }
    void = _void(verdict, evidence, deltas, others)
    if void is not None:
        cause, message = void
        update |= {"outcome": Outcome.VOID, "cause": cause, "message": message}
    return verdict.model_copy(update=update)


def _measurements(evidence: GateEvidence, deltas: CounterDeltas, others: Interference) -> dict[str, Json]:
    during = [reading.counters for reading in evidence.surroundings.during]
    ends = [one for one in (evidence.counters_before, evidence.counters_after) if one is not None]
    gauges = gauge_ranges([*ends[:1], *during, *ends[1:]])
    found: dict[str, Json] = {
        "counters": deltas.model_dump(mode="json", exclude_none=True),
        "interference": others.model_dump(mode="json", exclude_none=True),
    }
    if attempts := attempts_of(evidence.samples):
        found["attempts"] = attempts
    if (ttft := _ttft_against_server(evidence, deltas)) is not None:
        found["ttft_against_server"] = ttft
    if readings := evidence.surroundings.gate_memory:
        found["memory"] = summarise_memory(readings).model_dump(mode="json", exclude_none=True)
    if gauges:
        found["gauges"] = {name: one.model_dump(mode="json") for name, one in gauges.items()}
    return found


def _ttft_against_server(evidence: GateEvidence, deltas: CounterDeltas) -> Json:
    """Means of the same requests' first-token times, ours and the server's; `None` if they are not the same.

    Ours contains the server's, and connection, HTTP and our own error besides.
    """
    sent = (*evidence.warm_ups, *evidence.samples, *evidence.repeats)
    ours = [s.response.timings.ttft_s for s in sent if s.response.timings.ttft_s is not None]
    if not ours or deltas.ttft_s is None or len(ours) != deltas.first_tokens:
        return None
    client_s, server_s = fmean(ours), deltas.ttft_s / len(ours)
    means = {"client_mean_s": client_s, "server_mean_s": server_s, "difference_s": client_s - server_s}
    return {"formula": "mean TTFT - gain of the server's sum/gain of its count", "n": len(ours), **means}


def _findings(deltas: CounterDeltas, others: Interference) -> Iterator[Finding]:
    if others.foreign:
        yield Finding(kind="foreign_traffic", message=_told(others))
    if others.before:
        message = f"{others.before} completions of others between the gate before and this one"
        yield Finding(kind="foreign_traffic_between_gates", message=message)
    if deltas.preemptions:
        message = f"{deltas.preemptions} requests were preempted and computed again"
        yield Finding(kind="preemptions", message=message)


def _told(others: Interference) -> str:
    counts = {
        "completions": others.requests,
        "prompt tokens": others.prompt_tokens,
        "generation tokens": others.generation_tokens,
    }
    known = [f"{count} {name}" for name, count in counts.items() if count is not None]
    return f"the server counted traffic that this run did not send: {', '.join(known)}"


def _void(
    verdict: Verdict, evidence: GateEvidence, deltas: CounterDeltas, others: Interference
) -> tuple[str, str] | None:
    """(cause, message) where a verdict that was reached cannot stand; the first rule that matches wins."""
    if verdict.outcome is Outcome.VOID and verdict.cause == "samples_missing" and evidence.not_sent:
        told = ", ".join(f"{probe} ({condition})" for probe, condition in evidence.not_sent.items())
        return next(iter(evidence.not_sent.values())), f"not sent: {told}; {verdict.message}"
    if verdict.outcome not in (Outcome.PASSED, Outcome.FAILED) or evidence.engine_died:
        return None
    return _restarted(evidence, deltas) or _not_alone(evidence, others)


def _restarted(evidence: GateEvidence, deltas: CounterDeltas) -> tuple[str, str] | None:
    if deltas.reset:
        return "counter_reset", f"the server started anew while this gate ran: {deltas.reset}"
    first, before = evidence.surroundings.first, evidence.counters_before
    if first is None or before is None or not first.available or not before.available:
        return None
    anew = reset_evidence(first, before)
    return ("server_restarted", f"the server started anew since the boot: {anew}") if anew else None


def _not_alone(evidence: GateEvidence, others: Interference) -> tuple[str, str] | None:
    """Only where the ladder demands isolation; not being able to tell is then not enough."""
    if evidence.gate.options.get("isolated") is not True:
        return None
    if others.foreign:
        return "foreign_traffic", _told(others)
    if others.foreign is None:
        reason = others.absent or "its counters do not say enough"
        return "isolation_unverified", f"whether the server was this run's alone is not known: {reason}"
    return None
