"""Verdicts of code answers from their records alone."""

from __future__ import annotations

from typing import Any

import pytest

from armgate.judging.code import judge_execution
from armgate.judging.solutions import hold_task
from armgate.model.base import digest_bytes
from armgate.model.execution import SEVERITY, Calibration, CaseRun, Ended, ExecutionRecord, Kind, Limits, Tier
from armgate.model.outcome import Family, Outcome
from armgate.model.plain import encode
from armgate.model.task import Case, LoadedTask, Solution, Task

SEAL = "5ea1" * 8
TASK = LoadedTask(
    task=Task(
        schema="armgate/task/v1",
        id="sum",
        kind="function",
        entry="f",
        prompt="-",
        cases=(Case(args=[[1, 2]], expect=3), Case(args=[[]], expect=0), Case(args=[[5]], expect=5)),
    ),
    digest=digest_bytes(b"sum"),
    prompt="-",
)


def run(place: int, value: object, **changes: Any) -> CaseRun:
    case = TASK.task.cases[place]
    fields: dict[str, Any] = {
        "case": f"fixed-{place}",
        "input": encode(case.arguments),
        "expected": encode(case.expected),
        "ended": Ended.EXITED,
        "exit_code": 0,
        "seal": SEAL,
        "result": f"V{encode(value)}.{SEAL}",
    }
    return CaseRun(**(fields | changes))


def record(*cases: CaseRun, **changes: Any) -> ExecutionRecord:
    fields: dict[str, Any] = {
        "task": "sum",
        "task_digest": TASK.digest,
        "text": "def f(xs): ...",
        "text_source": "content",
        "planned": 3,
        "cases": cases,
        "tier": Tier(name="namespaces"),
    }
    return ExecutionRecord(**(fields | changes))


RIGHT = (run(0, 3), run(1, 0), run(2, 5))


def test_all_cases_right_is_a_pass_without_a_cause() -> None:
    verdict = judge_execution(TASK, record(*RIGHT))
    assert (verdict.outcome, verdict.kind, verdict.cause) == (Outcome.PASSED, Kind.PASS, None)
    assert verdict.violations == ()
    assert [case.observed for case in verdict.cases] == ["3", "0", "5"]
    assert (verdict.tier, verdict.text_source, verdict.planned) == ("namespaces", "content", 3)


def test_the_first_case_that_differs_is_shown_with_input_expected_and_observed() -> None:
    verdict = judge_execution(TASK, record(run(0, 3), run(1, None), run(2, True)))
    assert (verdict.outcome, verdict.kind, verdict.cause) == (Outcome.FAILED, "wrong_answer", "value_differs")
    (violation,) = verdict.violations
    assert violation.message == "wrong_answer in fixed-1: given [[]]: expected 0, got None"
    assert violation.clause == "code.value_differs"
    assert violation.family is Family.SEMANTIC


def test_the_worst_case_wins() -> None:
    raised = run(1, 0, result=f"EKeyError\n3\nx.{SEAL}", exit_code=1)
    verdict = judge_execution(TASK, record(run(0, 9), raised, run(2, 5)))
    assert (verdict.kind, verdict.cause) == ("runtime_error", "exception")
    assert "KeyError" in verdict.violations[0].message
    assert [case.kind for case in verdict.cases] == ["wrong_answer", "runtime_error", "pass"]


def test_the_order_of_kinds_is_the_designs() -> None:
    words = (
        "pass wrong_answer runtime_error contract_violation timeout memory output_limit sandbox_violation "
        "harness_error"
    )
    assert [kind.value for kind in sorted(Kind, key=SEVERITY.__getitem__)] == words.split()


def test_a_sandbox_violation_is_a_breach_and_fails() -> None:
    reached = run(0, 3, ended=Ended.FORBIDDEN_CALL, attempted="socket(0x2, 0x1, 0x0)")
    verdict = judge_execution(TASK, record(reached))
    assert (verdict.outcome, verdict.kind) == (Outcome.FAILED, "sandbox_violation")
    assert "socket(0x2" in verdict.violations[0].message
    assert verdict.violations[0].family is Family.CONTRACT


@pytest.mark.parametrize(
    ("broken", "cause"),
    [
        (record(fault="no sandbox holds", tier=None), "sandbox_unavailable"),
        (record(*RIGHT, fault="the engine is gone"), "sandbox_fault"),
        (record(), "no_case_ran"),
        (record(*RIGHT[:2]), "cases_missing"),
        (record(run(0, 3, ended=Ended.NOT_SETTLED), *RIGHT[1:]), "harness_failed"),
        (
            record(*RIGHT, limits=Limits(wall_s=1.0), calibration=Calibration(reference_wall_s=1.5)),
            "timeout_not_trustworthy",
        ),
    ],
)
def test_what_is_our_own_fault_is_errored_and_never_a_pass(broken: ExecutionRecord, cause: str) -> None:
    verdict = judge_execution(TASK, broken)
    assert (verdict.outcome, verdict.kind, verdict.cause) == (Outcome.ERRORED, Kind.HARNESS_ERROR, cause)


def test_fewer_cases_than_planned_still_fail_where_one_failed() -> None:
    verdict = judge_execution(TASK, record(run(0, 3, ended=Ended.CPU_LIMIT, cpu_s=2.0)))
    assert (verdict.outcome, verdict.kind) == (Outcome.FAILED, "timeout")


def test_no_text_is_a_breach() -> None:
    verdict = judge_execution(TASK, record(text=None))
    assert (verdict.outcome, verdict.cause) == (Outcome.FAILED, "nothing_to_run")


def test_the_record_alone_gives_the_verdict_again() -> None:
    first = record(run(0, 3), run(1, 0), run(2, float("nan")))
    again = ExecutionRecord.model_validate_json(first.model_dump_json())
    assert again == first
    assert judge_execution(TASK, again) == judge_execution(TASK, first)


def solution(right: bool, name: str = "one.py") -> Solution:
    return Solution(name=name, right=right, text="")


PASS = judge_execution(TASK, record(*RIGHT))
WRONG = judge_execution(TASK, record(run(0, 9), *RIGHT[1:]))
NOTHING = judge_execution(TASK, record(text=None))
FAULT = judge_execution(TASK, record(fault="gone"))


def test_a_task_holds_where_right_passes_and_wrong_is_caught() -> None:
    held = hold_task(TASK, [(solution(True), PASS), (solution(False), WRONG)])
    assert held.holds
    assert (held.right, held.wrong) == (1, 1)


@pytest.mark.parametrize(
    ("judged", "says"),
    [
        ([(solution(True), WRONG), (solution(False), WRONG)], "is right and was judged wrong_answer"),
        ([(solution(True), PASS), (solution(False), PASS)], "is wrong and was judged pass"),
        ([(solution(True), PASS), (solution(False), NOTHING)], "is wrong and was judged contract_violation"),
        ([(solution(True), PASS), (solution(False), FAULT)], "is wrong and was judged harness_error"),
        ([(solution(True), FAULT), (solution(False), WRONG)], "is right and was judged harness_error"),
        ([(solution(False), WRONG)], "ships no right solution"),
        ([(solution(True), PASS)], "ships no wrong solution"),
    ],
)
def test_a_task_that_does_not_hold_says_why(judged: list[Any], says: str) -> None:
    held = hold_task(TASK, judged)
    assert not held.holds
    assert says in " ".join(held.problems)
