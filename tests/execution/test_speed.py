"""What isolation costs, as ratios within one run: a warm case against a fresh container, tiers side by side.

`pytest tests/execution/test_speed.py -s` prints the table.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from armgate.execution.executor import Executor
from armgate.judging.code import judge_execution
from armgate.loading.tasks import load_task
from armgate.model.base import digest_bytes
from armgate.model.outcome import Outcome
from armgate.model.task import Case, LoadedTask, Task

ROOT = Path(__file__).resolve().parents[2]
MERGE = ROOT / "gates" / "tasks" / "merge-intervals"
ANSWER = "def solve(xs):\n    return sum(xs)\n"
REPEATS = 15

pytestmark = pytest.mark.slow


def summing(cases: int) -> LoadedTask:
    declared = Task(
        schema="armgate/task/v1",
        id="sum",
        kind="function",
        entry="solve",
        prompt="-",
        cases=tuple(Case(args=[[n, 1]], expect=n + 1) for n in range(cases)),
    )
    return LoadedTask(task=declared, digest=digest_bytes(declared.model_dump_json().encode()), prompt="-")


def timed(action: Callable[[], object]) -> float:
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


def median_s(action: Callable[[], object], repeats: int = REPEATS) -> float:
    action()
    return statistics.median(timed(action) for _ in range(repeats))


def say(line: str) -> None:
    print(line)


def plain_subprocess() -> None:
    program = ANSWER + "assert solve([1, 1]) == 2\n"
    subprocess.run([sys.executable, "-I", "-S", "-c", program], check=True)


def fresh_container(image: str) -> None:
    command = ["docker", "run", "--rm", "--network", "none", "--read-only", "--cap-drop", "ALL", "--init"]
    subprocess.run([*command, image, "python3", "-I", "-S", "-c", ANSWER], check=True, capture_output=True)


def case_s(executor: Executor) -> float:
    """Median time of one case of an answer, the executor's own work included."""
    task = summing(20)
    return median_s(lambda: executor.run(task, ANSWER, "content")) / 20


def test_a_case_is_a_twentieth_of_a_fresh_container(executor: Executor, docker_engine: str) -> None:
    case, fresh = case_s(executor), median_s(lambda: fresh_container(docker_engine), 5)
    bare = median_s(plain_subprocess)
    say(
        f"\n{executor.tier.name}: case {case * 1000:.1f} ms; plain subprocess {bare * 1000:.1f} ms "
        f"({case / bare:.2f} of it); docker run {fresh * 1000:.0f} ms (1/{fresh / case:.0f} of it)"
    )
    assert case <= fresh / 20


def test_two_hundred_generated_cases_of_one_answer(executor: Executor) -> None:
    task = load_task(MERGE)
    text = (MERGE / "solutions" / "right" / "sweep.py").read_text()
    executor.run(task, text, "content")  # generator and reference have run, sandboxes are warm
    begun = time.perf_counter()
    record = executor.run(task, text, "content")
    took = time.perf_counter() - begun
    assert judge_execution(task, record).outcome is Outcome.PASSED
    assert len(record.cases) >= 200
    say(f"\n{executor.tier.name}: {len(record.cases)} cases of one answer in {took:.2f} s")
    if executor.tier.name != "process":
        assert took < 2.0


def test_fifty_answers_of_twenty_cases_on_two_cores(executor: Executor) -> None:
    task = summing(20)
    answers = [f"{ANSWER}# {number}\n" for number in range(50)]
    with ThreadPoolExecutor(2) as threads:
        begun = time.perf_counter()
        records = list(threads.map(lambda text: executor.run(task, text, "content"), answers))
        took = time.perf_counter() - begun
    assert all(judge_execution(task, record).outcome is Outcome.PASSED for record in records)
    bare = median_s(plain_subprocess)
    say(
        f"\n{executor.tier.name}: 50 answers x 20 cases in {took:.2f} s: {50 / took:.1f} answers/s; "
        f"as plain subprocesses one after another {1000 * bare:.1f} s"
    )
    assert took < 2 * 1000 * bare
