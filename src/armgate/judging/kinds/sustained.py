"""`sustained`: long natural generation. The ending is checked, and only natural stops give a rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from armgate.judging.kinds.contract import ContractCheck, contract_problems
from armgate.judging.kinds.speed import by_probe
from armgate.model.evidence import GateEvidence
from armgate.model.gates import Gate
from armgate.model.outcome import Family, Outcome, Verdict
from armgate.model.plan import Plan


class Sustained:
    family = Family.RUNTIME
    compares = False
    options: Mapping[str, type] = {}

    def problems(self, gate: Gate) -> Sequence[tuple[str, str]]:
        return contract_problems(gate)

    def judge(self, evidence: GateEvidence, plan: Plan) -> Verdict:
        verdict = ContractCheck().judge(evidence, plan)
        natural = {v.sample for v in verdict.samples if v.outcome is Outcome.PASSED}
        kept = [sample for sample in evidence.samples if sample.id in natural]
        excluded = [sample.id for sample in evidence.samples if sample.id not in natural]
        lengths = {
            sample.id: sample.response.usage.completion_tokens if sample.response.usage else None
            for sample in evidence.samples
        }
        return verdict.model_copy(
            update={
                "measurements": {
                    "rates": by_probe(kept, evidence.arm),
                    "completion_tokens": lengths,
                    "excluded_from_rates": excluded,
                }
            }
        )
