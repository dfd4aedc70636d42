"""What every command that boots arms shares: its options, its progress, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Annotated

import typer

from armgate.campaign.derived import RunResult
from armgate.campaign.facts import run_facts
from armgate.campaign.progress import Progress
from armgate.campaign.run import execute
from armgate.campaign.sandbox import Sandboxes
from armgate.campaign.setting import Setting
from armgate.cli.output import console, error_console, print_json
from armgate.cli.progress import LiveView, PlainLines
from armgate.cli.summary import summary
from armgate.loading.workspace import Workspace
from armgate.model.plan import Plan, PlannedBoot
from armgate.reporting.files import REPORT
from armgate.reporting.run_folder import RunFolder
from armgate.reporting.step_summary import step_summary

OutOption = Annotated[Path | None, typer.Option("--out", help="Parent of the run's folder.")]
TierOption = Annotated[str, typer.Option("--tier", help="Sandbox for code: auto or a tier's name.")]
QuietOption = Annotated[bool, typer.Option("--quiet", help="No progress.")]

EXIT_WORDS = {
    0: "every required gate of every arm passed",
    1: "an arm was rejected",
    3: "inconclusive",
    4: "infrastructure error",
    5: "nothing ran",
    130: "interrupted",
}


def run_plan(
    plan: Plan,
    folder: RunFolder,
    place: Workspace,
    tier: str,
    progress: Progress,
    kept: Collection[PlannedBoot] = (),
) -> RunResult:
    """Boot what the plan says and `kept` does not have. The caller holds the folder's lock."""
    sandboxes = Sandboxes(tier)
    try:
        return asyncio.run(execute(Setting(plan, folder, place, progress, sandboxes), kept))
    finally:
        sandboxes.close()


def default_out(place: Workspace) -> Path:
    folder = place.root / "runs"
    return folder if folder.is_dir() else Path("runs")


@contextlib.contextmanager
def progress_to(quiet: bool) -> Iterator[Progress]:
    """Progress goes to stderr, so that stdout stays free for the result."""
    to = error_console()
    if quiet:
        yield Progress()
    elif to.is_terminal:
        with LiveView(to) as live:
            yield live
    else:
        with PlainLines(to) as lines:
            yield lines


def tell(result: RunResult, folder: Path, as_json: bool) -> None:
    """The end of a run for people or scripts, and for the job's page where a CI offers one."""
    _to_step_summary(folder)
    files = {name: str(folder / "arms" / name / "quality.json") for name in result.records}
    if as_json:
        arms = {
            name: {
                "arm_verdict": record.arm_verdict.value,
                "exit_code": record.exit_code,
                "reasons": list(record.reasons),
                "quality": files[name],
            }
            for name, record in result.records.items()
        }
        print_json({"run": str(folder), "exit_code": result.exit_code, "arms": arms})
        return
    to = console()
    to.print(summary(result.records, result.comparison))
    for path in (*files.values(), str(folder / "comparison.json"), str(folder / REPORT)):
        to.print(path, markup=False, highlight=False, soft_wrap=True)
    to.print(f"exit code {result.exit_code}: {EXIT_WORDS[result.exit_code]}", highlight=False)


def _to_step_summary(folder: Path) -> None:
    """GitHub shows what is appended to this file; that it cannot be written is no fault of the run."""
    page = os.environ.get("GITHUB_STEP_SUMMARY")
    if not page:
        return
    text = step_summary(run_facts(RunFolder(folder)))
    try:
        with Path(page).open("a", encoding="utf-8") as out:
            out.write(text + "\n")
    except OSError as error:
        error_console().print(f"{page} cannot be written: {error.strerror}", markup=False, highlight=False)
