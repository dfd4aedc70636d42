"""Executors over backends that fail in known ways: what is repeated, what is stopped, what is a fault."""

from __future__ import annotations

import threading
import time

import pytest

from armgate.errors import SandboxUnavailable
from armgate.execution.pool import Pool, Turns
from armgate.execution.sandbox import Observed
from armgate.execution.wire import CaseRequest
from armgate.judging.code import judge_execution
from armgate.model.base import digest_bytes
from armgate.model.execution import Ended, Limits
from armgate.model.outcome import Outcome
from armgate.model.plain import encode
from armgate.model.task import Case, Generated, LoadedTask, Task
from support.imagined import (
    TIER,
    Backend,
    Imagined,
    Script,
    doubled,
    ended,
    executor,
    one_after_another,
    value,
)


def doubling(count: int = 3, generated: Generated | None = None) -> LoadedTask:
    declared = Task(
        schema="armgate/task/v1",
        id="double",
        kind="function",
        entry="f",
        prompt="-",
        cases=tuple(Case(args=[n], expect=2 * n) for n in range(count)),
        generated=generated,
    )
    files = {"generator": "def generate(seed, count): ...", "reference": "def f(n): ..."} if generated else {}
    digest = digest_bytes(declared.model_dump_json().encode())
    return LoadedTask(task=declared, digest=digest, prompt="-", **files)


def test_an_answer_is_run_case_by_case() -> None:
    runner, backend = executor(doubled)
    record = runner.run(doubling(), "def f(n): return 2 * n", "content")
    assert [run.case for run in record.cases] == ["fixed-0", "fixed-1", "fixed-2"]
    assert len({run.seal for run in record.cases}) == 3
    assert judge_execution(doubling(), record).outcome is Outcome.PASSED
    assert len(backend.started) == 1
    runner.close()
    assert backend.closed
    assert all(sandbox.closed for sandbox in backend.started)


def test_the_record_says_what_was_run_and_where_it_is_from() -> None:
    runner, _ = executor(doubled)
    record = runner.run(doubling(), "text\u00e9", "fenced_block")
    assert record.text == "text\u00e9"
    assert record.text_source == "fenced_block"
    assert record.tier == TIER
    assert record.task_digest == doubling().digest


@pytest.mark.parametrize(("text", "cause"), [(None, "nothing_to_run"), ("\ud800", "not_unicode")])
def test_what_is_no_text_is_never_run(text: str | None, cause: str) -> None:
    runner, backend = executor(doubled)
    record = runner.run(doubling(), text, "content")
    verdict = judge_execution(doubling(), record)
    assert (verdict.outcome, verdict.kind, verdict.cause) == (Outcome.FAILED, "contract_violation", cause)
    assert backend.started == []


def test_after_an_endless_case_no_other_is_run() -> None:
    runner, backend = executor(lambda _: Observed(ended(Ended.CPU_LIMIT, cpu_s=2.0)))
    record = runner.run(doubling(50), "x", "content")
    assert len(record.cases) == 1
    assert judge_execution(doubling(50), record).kind == "timeout"
    assert sum(sandbox.ran for sandbox in backend.started) == 1


def test_after_a_wrong_value_the_others_are_run() -> None:
    runner, _ = executor(lambda request: value(request, 1))
    record = runner.run(doubling(), "x", "content")
    assert len(record.cases) == 3


def starved(_: CaseRequest) -> Observed:
    return Observed(ended(Ended.WALL_LIMIT, wall_s=8.0, waited_s=6.0))


def lost(_: CaseRequest) -> Observed:
    return Observed(None, lost="the channel closed before the case had ended")


def test_a_case_that_the_host_starved_is_run_again_alone_and_both_are_kept() -> None:
    runner, _ = executor(one_after_another(starved, doubled))
    record = runner.run(doubling(1), "x", "content")
    (run,) = record.cases
    assert run.earlier[0].waited_s == 6.0
    assert "second attempt" in (run.note or "")
    verdict = judge_execution(doubling(1), record)
    assert verdict.outcome is Outcome.PASSED
    assert verdict.cases[0].attempts == 2


def test_a_host_that_starves_it_twice_is_our_fault() -> None:
    runner, _ = executor(starved)
    record = runner.run(doubling(1), "x", "content")
    verdict = judge_execution(doubling(1), record)
    assert (verdict.outcome, verdict.cause) == (Outcome.ERRORED, "timeout_not_trustworthy")


def test_an_honest_timeout_is_not_repeated() -> None:
    slept = Observed(ended(Ended.WALL_LIMIT, wall_s=8.0, waited_s=0.1))
    runner, backend = executor(lambda _: slept)
    record = runner.run(doubling(1), "x", "content")
    assert record.cases[0].earlier == ()
    assert judge_execution(doubling(1), record).kind == "timeout"
    assert sum(sandbox.ran for sandbox in backend.started) == 1


def test_a_lost_sandbox_is_replaced_and_the_case_run_again() -> None:
    runner, backend = executor(one_after_another(doubled, lost, doubled, doubled))
    record = runner.run(doubling(3), "x", "content")
    assert judge_execution(doubling(3), record).outcome is Outcome.PASSED
    assert [len(run.earlier) for run in record.cases] == [0, 1, 0]
    assert len(backend.started) == 2
    assert backend.started[0].closed


def test_a_case_that_loses_two_sandboxes_is_a_violation_and_no_pass() -> None:
    runner, _ = executor(lost)
    verdict = judge_execution(doubling(2), runner.run(doubling(2), "x", "content"))
    assert (verdict.outcome, verdict.kind) == (Outcome.FAILED, "sandbox_violation")


def test_an_unclean_sandbox_is_replaced() -> None:
    def dirty(request: CaseRequest) -> Observed:
        return Observed(ended(clean=False), result=value(request, 0).result)

    runner, backend = executor(one_after_another(dirty, doubled, doubled))
    runner.run(doubling(3), "x", "content")
    assert [sandbox.closed for sandbox in backend.started] == [True, False]


def test_a_sandbox_that_cannot_be_started_is_a_fault() -> None:
    runner, backend = executor(doubled)

    def refuse(_: Limits) -> Imagined:
        raise SandboxUnavailable("the engine is gone")

    backend.start = refuse  # type: ignore[method-assign]
    record = runner.run(doubling(), "x", "content")
    verdict = judge_execution(doubling(), record)
    assert (verdict.outcome, verdict.cause) == (Outcome.ERRORED, "sandbox_fault")
    assert record.fault == "the engine is gone"


GENERATED = Generated(generator="g.py", reference="r.py", count=2)


def generating(request: CaseRequest) -> Observed:
    if request.entry == "generate":
        return value(request, [[10], [11]])
    return doubled(request)


def test_generated_cases_run_where_no_answer_ever_does() -> None:
    runner, backend = executor(generating)
    task = doubling(1, GENERATED)
    for _ in range(2):
        record = runner.run(task, "x", "content")
    assert [run.case for run in record.cases] == ["fixed-0", "generated-0", "generated-1"]
    assert [run.expected for run in record.cases] == [encode(0), encode(20), encode(22)]
    assert record.calibration.reference_cpu_s == 0.01
    trusted, answers = backend.started
    assert trusted.closed
    assert (trusted.ran, answers.ran) == (3, 6)  # prepared once: generator and two references


@pytest.mark.parametrize(
    ("script", "says"),
    [
        (lambda request: value(request, [[1]]), "did not return a list of 2"),
        (lambda request: value(request, [1, 2]), "a list of arguments"),
        (lambda request: Observed(ended(), result=f"EE\n1\nno.{request.seal}".encode()), "no plain value"),
        (lambda _: Observed(ended(Ended.CPU_LIMIT, cpu_s=60.0)), "cpu_limit"),
        (lost, "lost its sandbox"),
        (
            lambda request: value(request, [[1], [2]]) if request.entry == "generate" else starved(request),
            "the reference on generated-0",
        ),
    ],
)
def test_a_task_whose_own_parts_fail_is_a_fault(script: Script, says: str) -> None:
    runner, _ = executor(script)
    task = doubling(1, GENERATED)
    for _ in range(2):
        record = runner.run(task, "x", "content")
        assert says in (record.fault or "")
        assert judge_execution(task, record).outcome is Outcome.ERRORED


def test_limits_are_scaled_and_recorded() -> None:
    asked: list[CaseRequest] = []

    def noting(request: CaseRequest) -> Observed:
        asked.append(request)
        return doubled(request)

    runner, _ = executor(noting, factor=1.5)
    record = runner.run(doubling(1), "x", "content")
    assert (record.limits.cpu_s, record.limits.wall_s) == (3.0, 12.0)
    assert (asked[0].cpu_s, asked[0].wall_s) == (3.0, 12.0)
    assert record.calibration.factor == 1.5


def test_sizes_do_not_share_sandboxes() -> None:
    backend = Backend(doubled)
    pool = Pool(backend)  # type: ignore[arg-type]
    with pool.borrowed(Limits(memory_mb=256)), pool.borrowed(Limits(memory_mb=512)):
        pass
    with pool.borrowed(Limits(memory_mb=512)):
        pass
    assert len(backend.started) == 2
    pool.close()


def test_an_interrupted_borrower_gives_back_nothing_usable() -> None:
    backend = Backend(doubled)
    pool = Pool(backend)  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt), pool.borrowed(Limits()):
        raise KeyboardInterrupt
    assert backend.started[0].closed


def test_turns_bound_the_cases_at_once_and_one_runs_alone() -> None:
    turns, running, most, beside = Turns(2), set(), [], []

    def case(number: int) -> None:
        with turns.alone() if number == 5 else turns.shared():
            running.add(number)
            most.append(len(running))
            if number == 5:
                beside.append(set(running))
            time.sleep(0.01)
            running.discard(number)

    threads = [threading.Thread(target=case, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) <= 2
    assert beside == [{5}]


def test_a_bad_moment_of_the_generator_is_repeated_once() -> None:
    failed: list[CaseRequest] = []

    def faltering(request: CaseRequest) -> Observed:
        if not failed:
            failed.append(request)
            return lost(request)
        return generating(request)

    runner, _ = executor(faltering)
    record = runner.run(doubling(1, GENERATED), "x", "content")
    assert record.fault is None
    assert len(record.cases) == 3
