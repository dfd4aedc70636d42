"""`armgate tasks`: run one answer against one code task, and hold every task's own solutions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from armgate.cli.check import EXIT_CODES
from armgate.cli.options import JsonOption, WorkspaceOption
from armgate.cli.output import SIGNS, console, inert, print_json
from armgate.errors import DeclarationError, Problem, SandboxUnavailable, UsageError
from armgate.execution.executor import Executor
from armgate.execution.tiers import open_executor
from armgate.judging.code import CodeJudgement, judge_execution
from armgate.judging.solutions import HeldTask, hold_task
from armgate.loading.tasks import find_task, load_solutions, task_ids
from armgate.loading.workspace import Workspace, find_workspace
from armgate.model.base import Json
from armgate.model.execution import ExecutionRecord
from armgate.model.outcome import Outcome
from armgate.model.task import LoadedTask

tasks = typer.Typer(no_args_is_help=True, help="Code tasks: run an answer, test the tasks themselves.")

TaskArgument = Annotated[str, typer.Argument(help="Task id, or the path of a task folder.")]
TasksArgument = Annotated[
    list[str] | None,
    typer.Argument(help="Ids or folders; all of the workspace by default.", show_default=False),
]
AnswerOption = Annotated[Path, typer.Option("--answer", help="The answer: run verbatim.")]
TierOption = Annotated[
    str,
    typer.Option("--tier", help="auto, container, container+gvisor, namespaces or process."),
]


@tasks.command("run")
def run(
    task: TaskArgument,
    answer: AnswerOption,
    tier: TierOption = "auto",
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run one answer against one task; exit 0 passed, 1 failed, 4 errored, 2 wrong usage."""
    loaded = find_task(task, _workspace(workspace))
    record = _record(loaded, _text(answer), tier)
    judged = judge_execution(loaded, record)
    if as_json:
        print_json(_document(judged, record))
    else:
        _show(loaded, judged)
    raise typer.Exit(EXIT_CODES[judged.outcome])


def _workspace(given: Path | None) -> Workspace | None:
    """A task given by its path needs no workspace around it."""
    try:
        return find_workspace(given)
    except UsageError:
        if given is not None:
            raise
        return None


def _text(path: Path) -> str:
    try:
        # Bytes that are not UTF-8 become lone surrogates, which no sandbox is given: they are judged as such.
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise DeclarationError([Problem(path, None, None, "", f"cannot be read: {error.strerror}")]) from None


def _record(task: LoadedTask, text: str, tier: str) -> ExecutionRecord:
    try:
        executor = open_executor(tier)
    except SandboxUnavailable as error:
        return ExecutionRecord(
            task=task.task.id,
            task_digest=task.digest,
            text=None,
            text_source="content",
            planned=task.planned,
            tier=None,
            fault=str(error),
        )
    try:
        return executor.run(task, text, "content")
    finally:
        executor.close()


def _document(judged: CodeJudgement, record: ExecutionRecord) -> Json:
    document = judged.model_dump(mode="json")
    document["task"] = record.task
    document["task_digest"] = record.task_digest
    document["isolation"] = record.tier.model_dump(mode="json") if record.tier else None
    document["limits"] = record.limits.model_dump(mode="json")
    document["calibration"] = record.calibration.model_dump(mode="json")
    return document


def _show(task: LoadedTask, judged: CodeJudgement) -> None:
    sign, colour = SIGNS[judged.outcome]
    out = console()
    where = f" in the {judged.tier} tier" if judged.tier else ""
    out.print(
        f"{sign} {task.task.id}: {judged.outcome} ({judged.kind}){where}",
        style=colour,
        markup=False,
        highlight=False,
    )
    passed = sum(case.kind == "pass" for case in judged.cases)
    if judged.cases:
        out.print(
            f"  {passed} of {judged.planned} cases passed, {len(judged.cases)} were run", highlight=False
        )
    for line in [violation.message for violation in judged.violations] or [judged.message]:
        if line:
            out.print(inert(f"  {line}"), markup=False, highlight=False, soft_wrap=True)


@tasks.command("test")
def test(
    names: TasksArgument = None,
    tier: TierOption = "auto",
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run the right and wrong solutions that each task ships; exit 1 if one is judged otherwise."""
    place = _workspace(workspace)
    chosen = names or (task_ids(place) if place else [])
    if not chosen:
        raise UsageError("no tasks here: name one, or give a workspace with gates/tasks/")
    loaded = [find_task(name, place) for name in chosen]
    executor = open_executor(tier)
    try:
        held = [_hold(name, task, place, executor) for name, task in zip(chosen, loaded, strict=True)]
    finally:
        executor.close()
    if as_json:
        print_json([one.model_dump(mode="json") for one in held])
    else:
        for one in held:
            _show_held(one)
    if not all(one.holds for one in held):
        raise typer.Exit(1)


def _hold(name: str, task: LoadedTask, place: Workspace | None, executor: Executor) -> HeldTask:
    shipped = load_solutions(name, place)
    judged = [
        (solution, judge_execution(task, executor.run(task, solution.text, "content")))
        for solution in shipped
    ]
    return hold_task(task, judged)


def _show_held(held: HeldTask) -> None:
    out = console()
    sign, colour = SIGNS[Outcome.PASSED if held.holds else Outcome.FAILED]
    summary = f"{sign} {held.task}  {held.right} right and {held.wrong} wrong solutions"
    out.print(summary, style=colour, markup=False, highlight=False)
    for line in held.problems:
        out.print(inert(f"    {line}"), markup=False, highlight=False, soft_wrap=True)
