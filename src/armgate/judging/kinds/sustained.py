"""`sustained`: long natural generation. The ending is checked, and only natural stops give a rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from armgate.judging.causes import cause_of
from armgate.judging.contract import clause_violations, judge_contract, tolerances
from armgate.judging.kinds.speed import by_probe
from armgate.judging.protocol import conclude, failed, needs, passed, unsound
from armgate.judging.subject import Subject
from armgate.model.base import Json
from armgate.model.contract import Clause, Contract
from armgate.model.evidence import GateEvidence, Sample
from armgate.model.gates import Gate
from armgate.model.outcome import Family, Outcome, SampleVerdict, Verdict
from armgate.model.plan import Plan

ALWAYS = (
    Clause.model_validate({"finish": {"reason": "stop", "below_cap": True}}),
    Clause.model_validate({"no_degeneration": {}}),
)
"""What every long generation is held to: it ends by itself, and it does not go round in circles."""

SHORTEST_CAP = 64
"""Texts below so many tokens may well have the same length by chance."""


class Sustained:
    family = Family.RUNTIME
    compares = False
    options: Mapping[str, type] = {}

    def problems(self, gate: Gate) -> Sequence[tuple[str, str]]:
        return needs(gate, "probes")

    def judge(self, evidence: GateEvidence, plan: Plan) -> Verdict:
        capped = _capped_silently(evidence.samples)
        samples = [
            unsound(sample, evidence)
            or capped.get(sample.id)
            or _judged(sample, _contract(sample, evidence.gate, plan))
            for sample in evidence.samples
        ]
        natural = {v.sample for v in samples if v.outcome is Outcome.PASSED}
        measured = {
            "rates": by_probe([s for s in evidence.samples if s.id in natural], evidence.arm),
            "lengths": {sample.id: _length(sample) for sample in evidence.samples},
            "excluded_from_rates": {v.sample: v.cause for v in samples if v.sample not in natural},
        }
        return conclude(evidence, samples, measurements=measured)


def _contract(sample: Sample, gate: Gate, plan: Plan) -> Contract | None:
    name = sample.probe.contract or gate.contract
    return None if name is None else plan.contracts[name]


def _judged(sample: Sample, contract: Contract | None) -> SampleVerdict:
    subject = Subject.of_exchange(sample.exchange, sample.response)
    stated = set() if contract is None else {clause.name for clause in contract.clauses}
    violations = [v for c in ALWAYS if c.name not in stated for v in clause_violations(c, subject)]
    detail: dict[str, Json] = {}
    if contract is not None:
        violations += judge_contract(contract, subject)
        detail = {"contract": contract.id, "tolerances": tolerances(contract)}
    if violations:
        return failed(sample, *violations, cause=cause_of(subject, violations), **detail)
    return passed(sample, **detail)


def _length(sample: Sample) -> dict[str, Json]:
    """How long the output was and how it ended: a rate is worth nothing without both."""
    response, cap = sample.response, sample.exchange.cap_tokens
    return {
        "completion_tokens": response.usage.completion_tokens if response.usage else None,
        "characters": len(response.content or ""),
        "finish_reason": response.finish_reason,
        "effective_stop": response.effective_stop(cap),
        "cap_tokens": cap,
        "prompt_tokens": response.usage.prompt_tokens if response.usage else None,
    }


def _capped_silently(samples: Sequence[Sample]) -> dict[str, SampleVerdict]:
    """Different prompts that all stop at the same token: a cap that the server keeps to itself.

    Such a stop is called natural and is none, so it carries no verdict.
    """
    ends: dict[int, list[Sample]] = {}
    for sample in samples:
        usage = sample.response.usage
        tokens = usage.completion_tokens if usage is not None else None
        if tokens is not None and tokens >= SHORTEST_CAP and sample.response.finish_reason == "stop":
            ends.setdefault(tokens, []).append(sample)
    return {
        sample.id: _capped(sample, tokens)
        for tokens, alike in ends.items()
        if len({s.probe.id for s in alike}) > 1 and len({s.response.content for s in alike}) > 1
        for sample in alike
    }


def _capped(sample: Sample, tokens: int) -> SampleVerdict:
    message = f"different prompts all stop after exactly {tokens} tokens: a cap that the server does not name"
    return SampleVerdict(
        sample=sample.id,
        outcome=Outcome.VOID,
        cause="capped_silently",
        evidence=(sample.path,),
        detail={"message": message},
    )
