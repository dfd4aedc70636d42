"""What isolation costs, as ratios of one run: a warm case against a fresh container, tiers side by side."""

from __future__ import annotations

import argparse
import contextlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from armgate.errors import SandboxUnavailable
from armgate.execution.container import connect
from armgate.execution.executor import Executor
from armgate.execution.harness import sandbox_folder
from armgate.execution.image import build_image
from armgate.execution.tiers import open_executor
from armgate.judging.code import judge_execution
from armgate.loading.tasks import load_task
from armgate.model.base import digest_bytes
from armgate.model.outcome import Outcome
from armgate.model.task import Case, LoadedTask, Task

ROOT = Path(__file__).resolve().parents[2]
MERGE = ROOT / "gates" / "tasks" / "merge-intervals"
ANSWER = "def solve(xs):\n    return sum(xs)\n"
REPEATS = 15
TIERS = ("process", "namespaces", "container")


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


def generated_s(executor: Executor) -> tuple[int, float]:
    """Cases of the shipped task with 200 generated ones, and seconds for one right answer, all warm."""
    task = load_task(MERGE)
    text = (MERGE / "solutions" / "right" / "sweep.py").read_text()
    executor.run(task, text, "content")
    took = timed(lambda: executor.run(task, text, "content"))
    return task.planned, took


def fifty_answers_s(executor: Executor) -> float:
    """Seconds for 50 answers of 20 cases on two threads; all have to pass, or the figure means nothing."""
    task = summing(20)
    answers = [f"{ANSWER}# {number}\n" for number in range(50)]
    with ThreadPoolExecutor(2) as threads:
        begun = time.perf_counter()
        records = list(threads.map(lambda text: executor.run(task, text, "content"), answers))
        took = time.perf_counter() - begun
    if any(judge_execution(task, record).outcome is not Outcome.PASSED for record in records):
        raise SystemExit("an honest answer did not pass; there is nothing to measure")
    return took


def fresh_container_s() -> float | None:
    """Median seconds of `docker run` of the container tier's image, or `None` without an engine."""
    try:
        with contextlib.closing(connect()) as client:
            image = build_image(client, sandbox_folder())
    except SandboxUnavailable as error:
        print(f"docker run: not measured: {error}")
        return None
    return median_s(lambda: fresh_container(image), 5)


def measure(tier: str, fresh_s: float | None) -> None:
    try:
        executor = open_executor(tier, workers=2)
    except SandboxUnavailable as error:
        print(f"{tier}: not measured: {error}")
        return
    with contextlib.closing(executor):
        case, bare = case_s(executor), median_s(plain_subprocess)
        cases, generated = generated_s(executor)
        fifty = fifty_answers_s(executor)
    against = "" if fresh_s is None else f", 1/{fresh_s / case:.0f} of docker run ({fresh_s * 1000:.0f} ms)"
    print(f"{tier}: a case {case * 1000:.1f} ms, {case / bare:.2f} of a plain subprocess{against}")
    print(f"{tier}: {cases} cases of one answer in {generated:.2f} s")
    print(f"{tier}: 50 answers x 20 cases in {fifty:.2f} s ({50 / fifty:.1f} answers/s)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tiers", nargs="*", default=TIERS, help="of process, namespaces, container")
    fresh_s = fresh_container_s()
    for tier in parser.parse_args().tiers:
        measure(tier, fresh_s)


if __name__ == "__main__":
    main()
