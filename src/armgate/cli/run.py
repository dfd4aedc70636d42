"""`armgate run CAMPAIGN`: boot every arm once, judge it, and leave a run folder that proves the verdicts."""

from __future__ import annotations

from typing import Annotated

import typer

from armgate.campaign.known import known
from armgate.campaign.run import start
from armgate.campaign.select import selected
from armgate.cli.options import CampaignArgument, JsonOption, WorkspaceOption
from armgate.cli.orphans import offer_orphans
from armgate.cli.running import OutOption, QuietOption, TierOption, default_out, progress_to, run_plan, tell
from armgate.loading.plan import make_plan
from armgate.loading.workspace import find_workspace


def run(
    campaign: CampaignArgument,
    workspace: WorkspaceOption = None,
    out: OutOption = None,
    arm: Annotated[list[str] | None, typer.Option("--arm", help="Only this arm and its reference.")] = None,
    tier: TierOption = "auto",
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run a campaign. Exit code: 0 all accepted, 1 an arm rejected, 3 inconclusive, 4 infrastructure."""
    place = find_workspace(workspace, campaign.resolve().parent)
    plan = selected(make_plan(place, campaign, known()), tuple(arm or ()))
    folder = start(plan, out or default_out(place), place.relative(campaign))
    offer_orphans()
    with folder.locked(), progress_to(quiet) as progress:
        result = run_plan(plan, folder, place, tier, progress)
    tell(result, folder.root, as_json)
    raise typer.Exit(result.exit_code)
