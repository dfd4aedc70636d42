"""What every command that boots arms shares: its options, its progress, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Annotated

import typer

from armgate.campaign.derived import RunResult
from armgate.campaign.progress import Progress
from armgate.campaign.run import execute
from armgate.campaign.sandbox import Sandboxes
from armgate.campaign.setting import Setting
from armgate.cli.output import console, error_console, print_json
from armgate.cli.progress import LiveView, PlainLines
from armgate.cli.summary import summary
from armgate.loading.workspace import Workspace
from armgate.model.plan import Plan, PlannedBoot
from armgate.reporting.run_folder import RunFolder

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
        yield PlainLines(to)


def tell(result: RunResult, folder: Path, as_json: bool) -> None:
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
    to.print(summary(result.records))
    for path in (*files.values(), str(folder / "comparison.json")):
        to.print(path, markup=False, highlight=False, soft_wrap=True)
    to.print(f"exit code {result.exit_code}: {EXIT_WORDS[result.exit_code]}", highlight=False)
