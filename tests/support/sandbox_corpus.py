"""Judges the sandbox corpus in one tier, as whoever runs this file, and prints the verdicts as JSON.

usage: python sandbox_corpus.py TIER CORPUS_FOLDER [WORKERS]
"""

from __future__ import annotations

import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from armgate.execution.executor import Executor
from armgate.execution.tiers import open_executor
from armgate.judging.code import judge_execution
from armgate.model.base import digest_bytes
from armgate.model.task import Case, LoadedTask, Task, TaskLimits

LIMITS = TaskLimits(cpu_s=2, wall_s=8, memory_mb=256, output_kb=256, scratch_mb=64)


class CorpusFile(NamedTuple):
    """An answer of the corpus; its header names its kind and the verdicts that are right for it."""

    name: str
    data: bytes
    kind: str
    expected: frozenset[str]


def read_corpus(folder: Path) -> list[CorpusFile]:
    return [_read(path) for path in sorted(folder.glob("*.py"))]


def _read(path: Path) -> CorpusFile:
    data = path.read_bytes()
    head = data[:2000].decode("utf-8-sig", "replace").splitlines()
    fields = dict(m.groups() for line in head if (m := re.match(r"# (\w+): (.*)", line)))
    words = [fields["expected"], *fields.get("also", "").split()]
    return CorpusFile(path.name, data, fields["kind"], frozenset(words))


def _loaded(task: Task) -> LoadedTask:
    return LoadedTask(task=task, digest=digest_bytes(task.id.encode()), prompt="")


TASKS = {
    "function": _loaded(
        Task(
            schema="armgate/task/v1",
            id="sum-function",
            kind="function",
            entry="solve",
            prompt="-",
            limits=LIMITS,
            cases=tuple(
                Case(args=[given], expect=total)
                for given, total in (([1, 2, 3], 6), ([], 0), ([10, -4], 6), ([7], 7))
            ),
        )
    ),
    "program": _loaded(
        Task(
            schema="armgate/task/v1",
            id="sum-program",
            kind="program",
            prompt="-",
            limits=LIMITS,
            cases=tuple(Case(stdin=a, stdout=b) for a, b in (("1 2 3", "6"), ("", "0"), ("7", "7"))),
        )
    ),
}


def judge(executor: Executor, file: CorpusFile) -> dict[str, object]:
    task = TASKS[file.kind]
    record = executor.run(task, file.data.decode("utf-8", "surrogateescape"), "content")
    judged = judge_execution(task, record)
    return {
        "kind": judged.kind.value,
        "outcome": judged.outcome.value,
        "cause": judged.cause,
        "message": judged.message,
        "tier": judged.tier,
        "first_observed": judged.cases[0].observed if judged.cases else None,
    }


def main(tier: str, folder: str, workers: str = "2") -> None:
    files = read_corpus(Path(folder))
    executor = open_executor(tier, workers=int(workers))
    try:
        with ThreadPoolExecutor(int(workers)) as threads:
            verdicts = list(threads.map(lambda file: judge(executor, file), files))
    finally:
        executor.close()
    json.dump({file.name: verdict for file, verdict in zip(files, verdicts, strict=True)}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
