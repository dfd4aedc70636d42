"""`armgate run CAMPAIGN`: boot every arm once, judge it, and leave a run folder that proves the verdicts."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from armgate.campaign.derived import RunResult
from armgate.campaign.known import known
from armgate.campaign.progress import Progress
from armgate.campaign.run import execute, start
from armgate.campaign.sandbox import Sandboxes
from armgate.campaign.select import selected
from armgate.campaign.setting import Setting
from armgate.cli.options import CampaignArgument, JsonOption, WorkspaceOption
from armgate.cli.output import console, error_console, print_json
from armgate.cli.progress import LiveView, PlainLines
from armgate.cli.summary import summary
from armgate.loading.plan import make_plan
from armgate.loading.workspace import Workspace, find_workspace

EXIT_WORDS = {
    0: "every required gate of every arm passed",
    1: "an arm was rejected",
    3: "inconclusive",
    4: "infrastructure error",
    5: "nothing ran",
    130: "interrupted",
}


def run(
    campaign: CampaignArgument,
    workspace: WorkspaceOption = None,
    out: Annotated[Path | None, typer.Option("--out", help="Parent of the run's folder.")] = None,
    arm: Annotated[list[str] | None, typer.Option("--arm", help="Only this arm and its reference.")] = None,
    tier: Annotated[str, typer.Option("--tier", help="Sandbox for code: auto or a tier's name.")] = "auto",
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Run a campaign. Exit code: 0 all accepted, 1 an arm rejected, 3 inconclusive, 4 infrastructure."""
    place = find_workspace(workspace, campaign.resolve().parent)
    plan = selected(make_plan(place, campaign, known()), tuple(arm or ()))
    with _progress(quiet) as progress:
        sandboxes = Sandboxes(tier)
        setting = Setting(plan, start(plan, out or _default_out(place)), place, progress, sandboxes)
        try:
            result = asyncio.run(execute(setting))
        finally:
            sandboxes.close()
    _tell(result, setting.run.root, as_json)
    raise typer.Exit(result.exit_code)


def _default_out(place: Workspace) -> Path:
    folder = place.root / "runs"
    return folder if folder.is_dir() else Path("runs")


@contextlib.contextmanager
def _progress(quiet: bool) -> Iterator[Progress]:
    """Progress goes to stderr, so that stdout stays free for the result."""
    to = error_console()
    if quiet:
        yield Progress()
    elif to.is_terminal:
        with LiveView(to) as live:
            yield live
    else:
        yield PlainLines(to)


def _tell(result: RunResult, folder: Path, as_json: bool) -> None:
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
