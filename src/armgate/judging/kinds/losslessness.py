"""`losslessness`: an arm says token for token what its reference says; a reference, what it said before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from armgate.judging.losslessness import compare_sides, divergence_of, sample_verdicts
from armgate.judging.protocol import conclude, needs
from armgate.model.base import Json
from armgate.model.evidence import GateEvidence
from armgate.model.gates import Gate
from armgate.model.outcome import Family, Finding, Verdict
from armgate.model.plan import Plan


class Losslessness:
    family = Family.SEMANTIC
    compares = True
    options: Mapping[str, type] = {"near_tie_nats": float}

    def problems(self, gate: Gate) -> Sequence[tuple[str, str]]:
        problems = needs(gate, "probes")
        sampled = [p.id for p in gate.probes if p.sampling.get("temperature", 0) != 0]
        if sampled:
            problems.append(("probes", f"only greedy probes can be compared by token; sampled: {sampled}"))
        return problems

    def judge(self, evidence: GateEvidence, plan: Plan) -> Verdict:
        own_repeat = evidence.reference_arm == evidence.arm.name
        near_tie_nats = evidence.gate.options.get("near_tie_nats")
        divergence = compare_sides(evidence.samples, evidence.reference_samples or (), near_tie_nats)
        measurements: dict[str, Json] = {
            "reference": evidence.reference_arm,
            "control": own_repeat,
            "divergence": divergence.model_dump(mode="json", exclude_none=True, exclude={"pairs"}),
        }
        findings = []
        if evidence.reference_samples is None:
            message = f"no samples of {evidence.reference_arm} to compare with"
            findings.append(Finding(kind="reference_missing", message=message))
        control = divergence_of(()) if own_repeat else None
        if evidence.reference_samples is not None and evidence.control_samples is not None:
            control = compare_sides(evidence.reference_samples, evidence.control_samples)
            measurements["noise_floor"] = control.model_dump(
                mode="json", exclude_none=True, exclude={"pairs"}
            )
        reference = "its own repeat" if own_repeat else str(evidence.reference_arm)
        samples = sample_verdicts(divergence, control, reference)
        paths = {sample.id: (sample.path,) for sample in evidence.samples}
        shown = [v.model_copy(update={"evidence": paths.get(v.sample, ())}) for v in samples]
        return conclude(evidence, shown, findings=findings, measurements=measurements)
