"""Every shipped task against its own solutions: the right ones pass, each subtly wrong one is caught."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn

import pytest

from armgate.errors import SandboxUnavailable
from armgate.execution.executor import Executor
from armgate.execution.tiers import open_executor
from armgate.judging.code import judge_execution
from armgate.judging.solutions import hold_task
from armgate.loading.tasks import find_task, load_solutions, task_ids
from armgate.loading.workspace import Workspace

WORKSPACE = Workspace(Path(__file__).resolve().parents[2])

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def embedded(unavailable: Callable[[str, str], NoReturn]) -> Iterator[Executor]:
    """The strongest tier that needs no engine."""
    for name in ("namespaces", "process"):
        try:
            opened = open_executor(name, workers=2)
        except SandboxUnavailable as error:
            refusal = str(error)
            continue
        yield opened
        opened.close()
        return
    unavailable("sandbox", refusal)


@pytest.mark.parametrize("name", task_ids(WORKSPACE))
def test_a_task_holds(embedded: Executor, name: str) -> None:
    task, shipped = find_task(name, WORKSPACE), load_solutions(name, WORKSPACE)
    with ThreadPoolExecutor(2) as threads:
        records = list(threads.map(lambda one: embedded.run(task, one.text, "content"), shipped))
    judged = [(one, judge_execution(task, record)) for one, record in zip(shipped, records, strict=True)]
    assert hold_task(task, judged).problems == ()
    assert len(records[0].cases) == task.planned
