"""The recorded incidents of code graders, each through the public functions that judge our own code tasks.

Of the corpus's words, VOID is our `errored` here: what spoils a code check is the sandbox or the host.
"""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest

from armgate.execution.executor import Executor
from armgate.judging.code import CodeJudgement, judge_execution
from armgate.judging.fences import extract_fenced_block
from armgate.model.base import digest_bytes
from armgate.model.case_kind import same_stdout
from armgate.model.execution import Calibration, CaseRun, Ended, ExecutionRecord, Limits, Tier
from armgate.model.outcome import Outcome
from armgate.model.plain import Comparison, encode, same
from armgate.model.task import Case, LoadedTask, Task
from support.cases.corpus import Case as Incident
from support.cases.corpus import load_cases

INCIDENTS = {case.id: case for case in load_cases() if case.category == "9-code-graders"}
OUTCOMES = {"PASS": Outcome.PASSED, "FAIL": Outcome.FAILED, "VOID": Outcome.ERRORED}
AS_JSON = Comparison(sequences="any")
"""The incident's rule: its expected values are JSON, in which a tuple has no form of its own."""


def loaded(task: Task) -> LoadedTask:
    return LoadedTask(task=task, digest=digest_bytes(task.model_dump_json().encode()), prompt="-")


def function_task(given: dict[str, Any]) -> LoadedTask:
    cases = tuple(Case(args=case["args"], expect=case["expect"]) for case in given["cases"])
    return loaded(
        Task(
            schema="armgate/task/v1",
            id="incident",
            kind="function",
            entry=given["entry"],
            prompt="-",
            cases=cases,
        )
    )


def judged(executor: Executor, given: dict[str, Any], text: str | None) -> CodeJudgement:
    task = function_task(given)
    return judge_execution(task, executor.run(task, text, "content"))


def incident(name: str) -> Incident:
    return INCIDENTS[name]


def test_every_incident_has_its_test() -> None:
    here = {name.removeprefix("test_").split("_for_")[0] for name in globals() if name.startswith("test_gr")}
    assert {f"gr{name.removeprefix('GR-')}" for name in INCIDENTS} == here


def test_gr01_for_an_object_that_equals_everything(executor: Executor) -> None:
    given = incident("GR-01").input
    verdict = judged(executor, given, given["code"])
    assert (verdict.outcome, verdict.cause) == (Outcome.FAILED, "return_type_not_plain")


@pytest.mark.parametrize("base", ["int", "str", "list"])
def test_gr01_for_subclasses_of_plain_types(executor: Executor, base: str) -> None:
    text = f"class Yes({base}):\n    def __eq__(self, other): return True\ndef median(xs): return Yes()\n"
    verdict = judged(executor, incident("GR-01").input, text)
    assert (verdict.outcome, verdict.cause) == (Outcome.FAILED, "return_type_not_plain")


@pytest.mark.parametrize("variant", ["sys_exit", "os_exit"])
def test_gr02_for_leaving_early(executor: Executor, variant: str) -> None:
    given = incident("GR-02").input
    verdict = judged(executor, given, given["variants"][variant]["code"])
    assert (verdict.outcome, verdict.cause) == (Outcome.FAILED, "no_result_reported")


@pytest.mark.parametrize("name", ["GR-04", "GR-14"])
def test_gr04_for_tolerance(name: str) -> None:
    rules = {
        "float": Comparison(float_abs=1e-6, float_rel=1e-6),
        "int": Comparison(),
        "lines": Comparison(),
    }
    for got, expected, declared, verdict in incident(name).input["rows"]:
        # Numbers in the table are the file format's reading of unquoted text.
        observed = same_stdout(_text(got), _text(expected), rules[declared])
        assert observed == (verdict == "PASS"), (got, expected, declared)


def test_gr14_for_white_space() -> None:
    test_gr04_for_tolerance("GR-14")
    assert Comparison().stdout == "lines"


def _text(value: object) -> str:
    return value if isinstance(value, str) else repr(value)


def test_gr06_for_integers_of_many_digits(executor: Executor) -> None:
    given = incident("GR-06").input
    digits = _decimal(2**20000)
    assert len(digits) + 1 == given["cases"][0]["stdout_len"]
    case = Case(stdin=given["cases"][0]["stdin"], stdout=digits + "\n")
    task = loaded(Task(schema="armgate/task/v1", id="big", kind="program", prompt="-", cases=(case,)))
    assert judge_execution(task, executor.run(task, given["code"], "content")).outcome is Outcome.PASSED


def _decimal(number: int) -> str:
    """Decimal digits without the interpreter's own limit, which is the incident's subject."""
    blocks = []
    while number:
        number, block = divmod(number, 10**4000)
        blocks.append(str(block).rjust(4000, "0"))
    return "".join(reversed(blocks)).lstrip("0")


@pytest.mark.parametrize("variant", ["python_frames", "through_c"])
def test_gr07_for_recursion_without_end(executor: Executor, variant: str) -> None:
    given = incident("GR-07").input
    verdict = judged(executor, given, given["preamble"] + given["variants"][variant]["code"])
    assert verdict.outcome is Outcome.FAILED
    assert verdict.cause in ("crash_or_recursion", "memory_limit")
    after = judged(executor, given, "def f(n): return 0\n")
    assert after.outcome is Outcome.PASSED


def _recorded(case: CaseRun, limits: Limits, calibration: Calibration) -> CodeJudgement:
    task = function_task({"entry": "f", "cases": [{"args": [0], "expect": 0}]})
    record = ExecutionRecord(
        task="incident",
        task_digest=task.digest,
        text="def f(n): return 0\n",
        text_source="content",
        planned=1,
        cases=(case,),
        limits=limits,
        calibration=calibration,
        tier=Tier(name="process"),
    )
    return judge_execution(task, record)


def _case(ended: Ended, **measured: Any) -> CaseRun:
    return CaseRun(case="fixed-0", input=encode([0]), expected=encode(0), ended=ended, **measured)


def test_gr09_for_a_limit_that_the_reference_breaks() -> None:
    given = incident("GR-09").input
    killed = given["candidate"][0]
    run = _case(Ended.WALL_LIMIT, signal=9, cpu_s=killed["cpu_s"], wall_s=killed["wall_s"])
    limits = Limits(cpu_s=given["limit_s"], wall_s=given["limit_s"])
    slowest = Calibration(reference_wall_s=max(given["reference_solution_wall_s"]))
    verdict = _recorded(run, limits, slowest)
    assert verdict.outcome is OUTCOMES["VOID"]
    assert verdict.cause == incident("GR-09").expected["reason"]
    fair = _recorded(run, limits, Calibration(reference_wall_s=0.031))
    assert fair.outcome is Outcome.FAILED


def test_gr09_for_a_case_that_the_host_kept_waiting() -> None:
    run = _case(Ended.WALL_LIMIT, signal=9, cpu_s=0.3, wall_s=8.0, waited_s=6.0)
    verdict = _recorded(run, Limits(), Calibration())
    assert (verdict.outcome, verdict.cause) == (Outcome.ERRORED, "timeout_not_trustworthy")


def test_gr10_for_two_limits_broken_at_once() -> None:
    given = incident("GR-10").input
    limits = Limits(cpu_s=given["limits"]["cpu_s"], memory_mb=given["limits"]["mem_mib"])
    verdicts = set()
    for measured in given["runs"]:
        for ended in (Ended.CPU_LIMIT, Ended.SIGNALLED):
            peak = measured["rss_mib"] * 1024
            run = _case(ended, signal=9, cpu_s=measured["cpu_s"], memory_peak_kb=peak)
            verdict = _recorded(run, limits, Calibration())
            verdicts.add((verdict.outcome, verdict.kind))
    assert verdicts == {(Outcome.FAILED, "memory")}


@pytest.mark.parametrize("variant", ["good_content", "good_reasoning_only", "empty_content"])
def test_gr15_for_code_in_the_reasoning(executor: Executor, variant: str) -> None:
    given = incident("GR-15").input
    content = given["variants"][variant]["content"]
    block = extract_fenced_block(content) if content is not None else None
    task = function_task(given)
    record = executor.run(task, block[0] if block else None, "fenced_block")
    assert record.text_source == "fenced_block"
    verdict = judge_execution(task, record)
    assert verdict.outcome is OUTCOMES[incident("GR-15").expected["per_variant"][variant]]


def test_gr16_for_types_in_equality(executor: Executor) -> None:
    for got, expected, verdict in incident("GR-16").input["rows"]:
        value = float("nan") if "nan" in got else ast.literal_eval(got)
        assert same(value, json.loads(expected), AS_JSON) == (verdict == "PASS"), (got, expected)


def test_gr16_for_the_default_that_is_stricter() -> None:
    """Without the declared option a tuple is no list: the incident leaves that to the case."""
    assert not same((1, 2), [1, 2], Comparison())


def test_gr17_for_a_sandbox_that_is_not_there() -> None:
    task = function_task({"entry": "f", "cases": [{"args": [n], "expect": 0} for n in range(3)]})
    faults = {
        2: "the channel closed before the case had ended",
        3: "no Python for the sandbox",
    }
    words = incident("GR-17").expected["per_sample"]
    for sample, fault in faults.items():
        record = ExecutionRecord(
            task="incident",
            task_digest=task.digest,
            text="def f(n): return 0\n",
            text_source="content",
            planned=3,
            tier=None,
            fault=fault,
        )
        assert judge_execution(task, record).outcome is OUTCOMES[words[str(sample)]]


def test_gr17_for_its_own_memory_against_the_hosts() -> None:
    own = _case(Ended.SIGNALLED, signal=9, oom_kills=1, host_oom_kills=1)
    hosts = _case(Ended.SIGNALLED, signal=9, oom_kills=0, host_oom_kills=1)
    assert _recorded(own, Limits(), Calibration()).kind == "memory"
    assert _recorded(hosts, Limits(), Calibration()).outcome is Outcome.ERRORED
