"""Whether a task's cases do their work: its right solutions pass, each subtly wrong one is caught. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from armgate.judging.code import CodeJudgement
from armgate.model.base import Frozen
from armgate.model.execution import Kind
from armgate.model.outcome import Outcome
from armgate.model.task import LoadedTask, Solution


class HeldTask(Frozen):
    """`problems` names each solution that was not judged as it must be."""

    task: str
    right: int
    wrong: int
    problems: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return not self.problems


CAUGHT = frozenset({Kind.WRONG_ANSWER, Kind.RUNTIME_ERROR, Kind.TIMEOUT, Kind.MEMORY})
"""What catching a wrong solution may look like. A solution that has nothing to run was never tried."""


def hold_task(task: LoadedTask, judged: Iterable[tuple[Solution, CodeJudgement]]) -> HeldTask:
    """What the judgements of a task's shipped solutions say about the task."""
    pairs = list(judged)
    right = sum(solution.right for solution, _ in pairs)
    problems = [line for solution, verdict in pairs for line in _problem(solution, verdict)]
    if right == 0:
        problems.append("ships no right solution")
    if right == len(pairs):
        problems.append("ships no wrong solution, so nothing shows that its cases catch one")
    return HeldTask(task=task.task.id, right=right, wrong=len(pairs) - right, problems=tuple(problems))


def _problem(solution: Solution, verdict: CodeJudgement) -> list[str]:
    said = f"{verdict.kind}: {verdict.message}" if verdict.message else verdict.kind.value
    if solution.right and verdict.outcome is not Outcome.PASSED:
        return [f"{solution.name} is right and was judged {said}"]
    if not solution.right and (verdict.outcome is not Outcome.FAILED or verdict.kind not in CAUGHT):
        return [f"{solution.name} is wrong and was judged {said}"]
    return []
