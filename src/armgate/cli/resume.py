"""`armgate resume RUN`: go on with a run that was killed or interrupted, or that lost its disk or host."""

from __future__ import annotations

from typing import Annotated

import typer

from armgate.campaign.derived import final_boots, read_plan
from armgate.campaign.known import known
from armgate.campaign.resume import finished_boots, refuse_changed, set_aside
from armgate.campaign.run import start
from armgate.campaign.select import selected
from armgate.cli.options import JsonOption, RunArgument, WorkspaceOption
from armgate.cli.orphans import offer_orphans
from armgate.cli.running import QuietOption, TierOption, progress_to, run_plan, tell
from armgate.loading.plan import make_plan
from armgate.loading.workspace import Workspace, find_workspace
from armgate.model.plan import Plan, PlanFile
from armgate.reporting.run_folder import RunFolder


def resume(
    run: RunArgument,
    workspace: WorkspaceOption = None,
    anew: Annotated[
        bool, typer.Option("--anew", help="Plan the campaign again and begin in a new folder.")
    ] = False,
    tier: TierOption = "auto",
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Go on with a run: finished boots are kept, a half-finished one is set aside and booted again.

    Refused where the campaign, a file that it names, or Armgate has changed. Exit codes are those of `run`.
    """
    file = read_plan(RunFolder(run))
    place = find_workspace(workspace, run)
    if anew:
        plan = _planned_again(file, place)
        folder = start(plan, run.resolve().parent.parent, file.campaign_file)
    else:
        refuse_changed(file, place)
        plan, folder = file.plan, RunFolder(run)
    offer_orphans()
    with folder.locked(), progress_to(quiet) as progress:
        kept = finished_boots(folder, plan)
        progress.note(f"{len(kept)} of {len(plan.boots)} boots are finished and kept")
        begun = (*plan.boots, *final_boots(folder, plan))
        for name in set_aside(folder, [boot for boot in begun if boot not in kept]):
            progress.note(f"set aside: {name}")
        result = run_plan(plan, folder, place, tier, progress, kept)
    tell(result, folder.root, as_json)
    raise typer.Exit(result.exit_code)


def _planned_again(file: PlanFile, place: Workspace) -> Plan:
    now = make_plan(place, place.path(file.campaign_file), known())
    return selected(now, tuple(name for name in file.plan.arms if name in now.arms))
