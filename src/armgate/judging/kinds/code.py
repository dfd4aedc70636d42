"""`code`: the answer's code does what the task asks, by its execution record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from armgate.judging.bounds import Bounds
from armgate.judging.code import CodeJudgement, judge_execution
from armgate.judging.protocol import conclude, needs, unsound
from armgate.model.base import Json
from armgate.model.evidence import GateEvidence, Sample
from armgate.model.gates import Gate
from armgate.model.outcome import Family, Outcome, SampleVerdict, Verdict
from armgate.model.plan import Plan
from armgate.model.task import LoadedTask


class CodeCheck:
    family = Family.SEMANTIC
    compares = False
    options: Mapping[str, type] = {"max_tokens": int}
    bounds = Bounds()

    def problems(self, gate: Gate) -> Sequence[tuple[str, str]]:
        return needs(gate, "task", "extract")

    def judge(self, evidence: GateEvidence, plan: Plan) -> Verdict:
        task = plan.tasks[evidence.gate.task or ""]
        samples = [unsound(sample, evidence) or _judged(sample, task) for sample in evidence.samples]
        tiers = {
            sample.execution.tier.name
            for sample in evidence.samples
            if sample.execution and sample.execution.tier
        }
        return conclude(evidence, samples, measurements={"tiers": sorted(tiers), "cases": task.planned})


def _judged(sample: Sample, task: LoadedTask) -> SampleVerdict:
    if sample.execution is None:
        return SampleVerdict(
            sample=sample.id,
            outcome=Outcome.ERRORED,
            cause="not_executed",
            evidence=(sample.path,),
            detail={"message": "the answer is on record and was never run"},
        )
    judged = judge_execution(task, sample.execution)
    return SampleVerdict(
        sample=sample.id,
        outcome=judged.outcome,
        cause=None if judged.outcome is Outcome.PASSED else judged.cause,
        violations=judged.violations,
        evidence=(sample.path, sample.execution_path or ""),
        detail=_detail(judged, sample),
    )


def _detail(judged: CodeJudgement, sample: Sample) -> dict[str, Json]:
    """Kind, tier and what the tier isolates stand in every verdict; the cases stand in the record."""
    tier = sample.execution.tier if sample.execution else None
    return {
        "kind": judged.kind.value,
        "message": judged.message,
        "text_source": judged.text_source,
        "tier": tier.model_dump(mode="json") if tier else None,
        "cases_run": len(judged.cases),
        "cases_planned": judged.planned,
    }
