"""`contract`: each probe's response keeps a strict promise about its form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from armgate.judging.bounds import Bounds
from armgate.judging.contract import judge_sample
from armgate.judging.protocol import conclude, needs, unsound
from armgate.model.evidence import GateEvidence
from armgate.model.gates import Gate
from armgate.model.outcome import Family, Verdict
from armgate.model.plan import Plan


class ContractCheck:
    family = Family.CONTRACT
    compares = False
    options: Mapping[str, type] = {}
    bounds = Bounds()

    def problems(self, gate: Gate) -> Sequence[tuple[str, str]]:
        return contract_problems(gate)

    def judge(self, evidence: GateEvidence, plan: Plan) -> Verdict:
        samples = [
            unsound(sample, evidence)
            or judge_sample(plan.contracts[_name(sample.probe.contract, evidence.gate)], sample)
            for sample in evidence.samples
        ]
        return conclude(evidence, samples)


def contract_problems(gate: Gate) -> list[tuple[str, str]]:
    """What a gate that judges by contract lacks: probes, or a contract for one of them."""
    problems = needs(gate, "probes")
    if gate.contract is None:
        bare = [probe.id for probe in gate.probes if probe.contract is None]
        if bare or not gate.probes:
            problems.append(("contract", f"no contract for {', '.join(bare) or 'this gate'}"))
    return problems


def _name(of_probe: str | None, gate: Gate) -> str:
    name = of_probe or gate.contract
    assert name is not None
    return name
