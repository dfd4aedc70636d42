"""The quality record of an arm, derived from its boots' records and verdicts; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from armgate.model.arms import Arm
from armgate.model.base import Json
from armgate.model.boots import BootRecord
from armgate.model.calibration import NOT_CALIBRATED, Calibration
from armgate.model.gates import IDENTITY
from armgate.model.outcome import Family, Outcome, Verdict, arm_verdict, flag, worst
from armgate.model.plan import Plan
from armgate.model.quality import Flags, GateRecord, Identity, OutcomeCounts, QualityRecord
from armgate.reporting.context import context_limits, window_findings

Boots = Mapping[int, tuple[BootRecord, Mapping[str, Verdict]]]

IDENTITY_WHY = "implicit in every boot: pins asked = pins observed"


def quality_record(
    plan: Plan,
    digest: str,
    arm: Arm,
    boots: Boots,
    memory: Mapping[str, Json] | None = None,
    calibration: Calibration | None = None,
) -> QualityRecord:
    """The record over the counted boots, each with one verdict per planned gate."""
    gates = tuple(_gate_record(plan, gate_id, boots) for gate_id in plan.gate_ids)
    required = [gate.outcome for gate in gates if gate.required]
    verdict, code = arm_verdict(required, any(record.was_ready for record, _ in boots.values()))
    return QualityRecord(
        armgate_version=plan.armgate_version,
        campaign=plan.campaign,
        plan_digest=digest,
        arm=arm.name,
        reference=arm.reference,
        arm_verdict=verdict,
        exit_code=code,
        reasons=_reasons(gates, boots),
        flags=_flags(gates),
        counts=_counts(gates),
        identity=_identity(arm, boots),
        gates=gates,
        measurements=_measurements(gates),
        calibration=calibration,
        memory=dict(memory or {}),
        boots={f"{number:02d}": _boot_facts(record) for number, (record, _) in boots.items()},
        findings=(
            *window_findings(arm, [record for record, _ in boots.values()]),
            *(f for gate in gates for v in gate.verdicts.values() for f in v.findings),
        ),
        diagnostics=tuple(d for gate in gates for v in gate.verdicts.values() for d in v.diagnostics),
        limits=(*_limits(arm, plan, boots, gates), clock_words(calibration)),
    )


def clock_words(calibration: Calibration | None) -> str:
    """How wrong the client's own clocks can be, for whoever reads a speed figure."""
    return NOT_CALIBRATED if calibration is None else calibration.words()


def _gate_record(plan: Plan, gate_id: str, boots: Boots) -> GateRecord:
    verdicts = {f"{n:02d}": by_gate[gate_id] for n, (_, by_gate) in boots.items() if gate_id in by_gate}
    outcome = worst(verdict.outcome for verdict in verdicts.values())
    first = next(verdict for verdict in verdicts.values() if verdict.outcome is outcome)
    why = IDENTITY_WHY if gate_id == IDENTITY else plan.gate(gate_id).gate.why
    return GateRecord(
        gate=gate_id,
        check=first.check,
        family=first.family,
        required=first.required,
        why=why,
        outcome=outcome,
        because_of=first.because_of,
        verdicts=verdicts,
    )


def _counts(gates: Sequence[GateRecord]) -> OutcomeCounts:
    tally = Counter(verdict.outcome.value for gate in gates for verdict in gate.verdicts.values())
    return OutcomeCounts(planned=sum(len(gate.verdicts) for gate in gates), **tally)


def _flags(gates: Sequence[GateRecord]) -> Flags:
    def over(*families: Family) -> bool | None:
        return flag(gate.outcome for gate in gates if gate.required and gate.family in families)

    return Flags(
        contract_passed=over(Family.CONTRACT),
        semantic_passed=over(Family.SEMANTIC),
        runtime_passed=over(Family.RUNTIME),
        quality_passed=over(*Family),
    )


def _reasons(gates: Sequence[GateRecord], boots: Boots) -> tuple[str, ...]:
    """Required gates that did not pass, worst kind first, in ladder order within a kind; skips by cause."""
    never = [record for record, _ in boots.values() if not record.was_ready]
    if len(never) == len(boots):
        return tuple(f"not ready: {record.cause}: {record.message}" for record in never)
    required = [gate for gate in gates if gate.required]
    reasons = [
        f"{gate.gate} {gate.outcome}: {_words(gate)}"
        for outcome in (Outcome.FAILED, Outcome.ERRORED, Outcome.VOID)
        for gate in required
        if gate.outcome is outcome
    ]
    skips: dict[str, list[str]] = {}
    for gate in required:
        if gate.outcome is Outcome.SKIPPED:
            skips.setdefault(str(gate.because_of), []).append(gate.gate)
    reasons += [f"skipped because of {cause}: {', '.join(names)}" for cause, names in skips.items()]
    return tuple(reasons)


def _words(gate: GateRecord) -> str:
    verdict = next(v for v in gate.verdicts.values() if v.outcome is gate.outcome)
    return verdict.message or verdict.cause or ""


def _identity(arm: Arm, boots: Boots) -> Identity:
    record = next(iter(boots.values()))[0]
    return Identity(
        engine=arm.engine,
        launcher=arm.launcher.kind,
        serve=arm.serve,
        speculative=arm.speculative.model_dump(mode="json") if arm.speculative else None,
        sampling=arm.sampling.model_dump(mode="json"),
        pins=record.pins,
        versions=record.versions,
        resolved=record.resolved,
        argv=record.argv,
    )


def _measurements(gates: Sequence[GateRecord]) -> dict[str, dict[str, Json]]:
    return {
        gate.gate: {boot: verdict.measurements for boot, verdict in gate.verdicts.items()}
        for gate in gates
        if any(verdict.measurements for verdict in gate.verdicts.values())
    }


def _boot_facts(record: BootRecord) -> dict[str, Json]:
    return {
        "purpose": record.purpose,
        "state": record.state.value,
        "ready_s": record.ready_s,
        "total_s": record.total_s,
        "cause": record.cause,
        "message": record.message,
    }


def _concurrency(plan: Plan) -> list[str]:
    """Said unless some gate has more than one request under way."""
    probes = [probe for planned in plan.gates for probe in planned.gate.probes]
    if any(probe.concurrency > 1 or probe.arrivals is not None for probe in probes):
        return []
    return ["requests were sent one at a time: nothing is said about concurrency"]


def _limits(arm: Arm, plan: Plan, boots: Boots, gates: Sequence[GateRecord]) -> tuple[str, ...]:
    """What this record does not claim, from what was and was not done."""
    limits = [
        f"{len(boots)} boot of this arm: dispersion over boots is unknown"
        if len(boots) == 1
        else f"{len(boots)} boots of this arm",
        *_concurrency(plan),
        "no production-readiness score is given",
    ]
    limits += sorted({note for record, _ in boots.values() for note in record.notes})
    advisory = [gate.gate for gate in gates if not gate.required]
    if advisory:
        limits.append(f"advisory gates decide nothing: {', '.join(advisory)}")
    if arm.reference == arm.name and any(p.gate.check == "losslessness" for p in plan.gates):
        limits.append("losslessness was judged against this arm's own repeat, not against another arm")
    limits += context_limits(arm, [record for record, _ in boots.values()], gates)
    return tuple(limits)
