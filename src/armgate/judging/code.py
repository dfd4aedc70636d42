"""Judges an execution record: one of the five outcomes, a kind, and the first case that differs. Pure."""

from __future__ import annotations

from armgate.model.base import Frozen
from armgate.model.case_kind import CaseFinding, case_finding
from armgate.model.execution import B64, SEVERITY, CaseRun, ExecutionRecord, Kind
from armgate.model.outcome import Family, Outcome, Violation
from armgate.model.plain import decode, literal
from armgate.model.task import LoadedTask


class CaseResult(Frozen):
    """One case as a person reads it: values are Python literals, cut where they are long."""

    case: str
    kind: Kind
    reason: str
    message: str
    input: str
    expected: str
    observed: str | None
    cpu_s: float
    wall_s: float
    attempts: int


class CodeJudgement(Frozen):
    """`cause` is the stable reason of the worst case, or of the fault; there is none for a pass."""

    outcome: Outcome
    kind: Kind
    cause: str | None
    message: str
    tier: str | None
    text_source: str
    planned: int
    violations: tuple[Violation, ...] = ()
    cases: tuple[CaseResult, ...] = ()


def judge_execution(task: LoadedTask, record: ExecutionRecord) -> CodeJudgement:
    """The verdict of one answer. The same record and task give the same verdict on any machine."""
    if record.fault is not None:
        return _judgement(record, Outcome.ERRORED, Kind.HARNESS_ERROR, _fault_cause(record), record.fault)
    if record.text is None:
        return _contract_breach(record, "nothing_to_run", "there is no text to run")
    if isinstance(record.text, B64):
        return _contract_breach(record, "not_unicode", "the text is not valid Unicode")
    reference = record.calibration.reference_wall_s
    if reference is not None and reference > record.limits.wall_s:
        message = f"the reference itself took {reference:.2f} s, {record.limits.wall_s:g} s are allowed"
        return _judgement(record, Outcome.ERRORED, Kind.HARNESS_ERROR, "timeout_not_trustworthy", message)
    return _judge_cases(task, record)


def _judge_cases(task: LoadedTask, record: ExecutionRecord) -> CodeJudgement:
    found = [
        (run, case_finding(run, task.task, task.comparison(run.case), record.limits)) for run in record.cases
    ]
    results = tuple(_result(task, run, finding) for run, finding in found)
    if not found:
        return _judgement(record, Outcome.ERRORED, Kind.HARNESS_ERROR, "no_case_ran", "no case was run")
    worst_run, worst = max(found, key=lambda pair: SEVERITY[pair[1].kind])
    if worst.kind is Kind.PASS and len(found) < record.planned:
        message = f"{len(found)} of {record.planned} cases were run"
        return _judgement(record, Outcome.ERRORED, Kind.HARNESS_ERROR, "cases_missing", message, results)
    outcome = {Kind.PASS: Outcome.PASSED, Kind.HARNESS_ERROR: Outcome.ERRORED}.get(worst.kind, Outcome.FAILED)
    violations = () if outcome is not Outcome.FAILED else (_violation(task, worst_run, worst),)
    if outcome is Outcome.PASSED:
        return _judgement(record, outcome, worst.kind, None, "", results)
    message = f"{worst_run.case}: {worst.message}"
    return _judgement(record, outcome, worst.kind, worst.reason, message, results, violations)


def _result(task: LoadedTask, run: CaseRun, finding: CaseFinding) -> CaseResult:
    given, expected = _shown(task, run)
    return CaseResult(
        case=run.case,
        kind=finding.kind,
        reason=finding.reason,
        message=finding.message,
        input=given,
        expected=expected,
        observed=finding.observed,
        cpu_s=run.cpu_s,
        wall_s=run.wall_s,
        attempts=1 + len(run.earlier),
    )


def _shown(task: LoadedTask, run: CaseRun) -> tuple[str, str]:
    if task.task.kind == "program":
        return literal(run.input), literal(run.expected)
    return literal(decode(run.input)), literal(decode(run.expected))


def _violation(task: LoadedTask, run: CaseRun, finding: CaseFinding) -> Violation:
    given, _ = _shown(task, run)
    contract = finding.kind in (Kind.CONTRACT_VIOLATION, Kind.SANDBOX_VIOLATION)
    return Violation(
        clause=f"code.{finding.reason}",
        message=f"{finding.kind} in {run.case}: given {given}: {finding.message}",
        channel="content",
        family=Family.CONTRACT if contract else Family.SEMANTIC,
    )


def _contract_breach(record: ExecutionRecord, reason: str, message: str) -> CodeJudgement:
    violation = Violation(clause=f"code.{reason}", message=message, channel="content")
    kind = Kind.CONTRACT_VIOLATION
    return _judgement(record, Outcome.FAILED, kind, reason, message, violations=(violation,))


def _fault_cause(record: ExecutionRecord) -> str:
    return "sandbox_unavailable" if record.tier is None else "sandbox_fault"


def _judgement(
    record: ExecutionRecord,
    outcome: Outcome,
    kind: Kind,
    cause: str | None,
    message: str,
    cases: tuple[CaseResult, ...] = (),
    violations: tuple[Violation, ...] = (),
) -> CodeJudgement:
    return CodeJudgement(
        outcome=outcome,
        kind=kind,
        cause=cause,
        message=message,
        tier=record.tier.name if record.tier else None,
        text_source=record.text_source,
        planned=record.planned,
        violations=violations,
        cases=cases,
    )
