"""`sustained`: long natural generation. The ending is checked, and only natural stops give a rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from armgate.judging.bounds import Bounds
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
    Clause.model_validate({"no_degeneration": {"unit": 2000}}),
)
"""What every long generation is held to, whatever its contract allows: it ends by itself, and it does not go
round in circles, be the circle a whole paragraph."""

SHORTEST_CAP = 64
"""Texts below so many tokens may well have the same length by chance."""


class Sustained:
    family = Family.RUNTIME
    compares = False
    options: Mapping[str, type] = {}
    bounds = Bounds()

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
            "rates": by_probe(
                [s for s in evidence.samples if s.id in natural], evidence.arm, evidence.samples
            ),
            "lengths": {sample.id: _length(sample) for sample in evidence.samples},
            "excluded_from_rates": {v.sample: v.cause for v in samples if v.sample not in natural},
        }
        return conclude(evidence, samples, measurements=measured)


def _contract(sample: Sample, gate: Gate, plan: Plan) -> Contract | None:
    name = sample.probe.contract or gate.contract
    return None if name is None else plan.contracts[name]


def _judged(sample: Sample, contract: Contract | None) -> SampleVerdict:
    subject = Subject.of_exchange(sample.exchange, sample.response)
    violations = [v for clause in ALWAYS for v in clause_violations(clause, subject)]
    detail: dict[str, Json] = {}
    if contract is not None:
        violations += [v for v in judge_contract(contract, subject) if v not in violations]
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
    """Every long answer, to different prompts, stops at the same token: a cap that the server does not name.

    Such a stop is called natural and is none, so it carries no verdict. Two of many may agree by chance.
    """
    long = {sample.id: tokens for sample in samples if (tokens := _natural_tokens(sample)) >= SHORTEST_CAP}
    alike = [sample for sample in samples if sample.id in long]
    if len(set(long.values())) != 1 or len({s.probe.id for s in alike}) < 2:
        return {}
    if len({s.response.content for s in alike}) < 2:
        return {}
    return {sample.id: _capped(sample, long[sample.id]) for sample in alike}


def _natural_tokens(sample: Sample) -> int:
    """Tokens of an answer that is said to have stopped by itself; 0 where it did not or none were counted."""
    usage = sample.response.usage
    if usage is None or sample.response.finish_reason != "stop":
        return 0
    return usage.completion_tokens or 0


def _capped(sample: Sample, tokens: int) -> SampleVerdict:
    message = f"different prompts all stop after exactly {tokens} tokens: a cap that the server does not name"
    return SampleVerdict(
        sample=sample.id,
        outcome=Outcome.VOID,
        cause="capped_silently",
        evidence=(sample.path,),
        detail={"message": message},
    )
