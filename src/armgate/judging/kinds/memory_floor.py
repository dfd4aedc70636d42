"""`memory_floor`: the host keeps a declared amount of memory available while the arm serves its probes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from armgate.judging.bounds import Bounds
from armgate.judging.memory import summarise_memory
from armgate.judging.protocol import conclude, needs, passed, unsound
from armgate.model.evidence import GateEvidence, Sample
from armgate.model.gates import Gate
from armgate.model.memory import MemorySample, MemorySummary
from armgate.model.outcome import Family, Outcome, SampleVerdict, Verdict, Violation
from armgate.model.plan import Plan

GIB = 2**30
SCOPES = ("boot", "gate")


class MemoryFloor:
    """Judges the lowest sampled MemAvailable, from the boot's start or over the gate alone (`scope`)."""

    family = Family.RUNTIME
    compares = False
    options: Mapping[str, type] = {"available_gib": float, "swap_gib": float, "scope": str}
    bounds = Bounds()

    def problems(self, gate: Gate) -> Sequence[tuple[str, str]]:
        problems = needs(gate, "probes")
        if "available_gib" not in gate.options:
            problems.append(("options", f"check {gate.check!r} needs 'available_gib', the floor in GiB"))
        if gate.options.get("scope", SCOPES[0]) not in SCOPES:
            problems.append(("options", f"option 'scope' is one of {', '.join(SCOPES)}"))
        return problems

    def judge(self, evidence: GateEvidence, plan: Plan) -> Verdict:
        readings = _readings(evidence)
        summary = summarise_memory(readings)
        known = len(readings) > 1 and summary.available_min_bytes is not None
        samples = [unsound(sample, evidence) or _judged(sample, known) for sample in evidence.samples]
        return conclude(
            evidence,
            samples,
            _broken(evidence.gate, summary) if known else (),
            measurements={"floor": summary.model_dump(mode="json", exclude_none=True)},
        )


def _readings(evidence: GateEvidence) -> tuple[MemorySample, ...]:
    of_boot = evidence.gate.options.get("scope", SCOPES[0]) == "boot"
    return evidence.surroundings.memory if of_boot else evidence.surroundings.gate_memory


def _judged(sample: Sample, known: bool) -> SampleVerdict:
    if known:
        return passed(sample)
    detail = {"message": "fewer than two readings of this host's memory"}
    return SampleVerdict(sample=sample.id, outcome=Outcome.VOID, cause="memory_not_read", detail=detail)


def _broken(gate: Gate, summary: MemorySummary) -> Iterator[Violation]:
    floor, swap = gate.options["available_gib"], gate.options.get("swap_gib")
    lowest = (summary.available_min_bytes or 0) / GIB
    if lowest < floor:
        message = (
            f"{lowest:.2f} GiB available at the lowest of {summary.samples} readings, "
            f"{summary.interval_s} s apart; the floor is {floor:g} GiB"
        )
        yield Violation(clause="memory_floor", message=message, family=Family.RUNTIME)
    used = (summary.swap_peak_bytes or 0) / GIB
    if swap is not None and used > swap:
        message = f"{used:.2f} GiB of swap in use; {swap:g} GiB are allowed"
        yield Violation(clause="swap", message=message, family=Family.RUNTIME)
