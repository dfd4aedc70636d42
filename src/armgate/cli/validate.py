"""`armgate validate CAMPAIGN`: everything that can be wrong before a boot, at once."""

from __future__ import annotations

import typer

from armgate.campaign.known import known
from armgate.cli.options import CampaignArgument, JsonOption, WorkspaceOption
from armgate.cli.output import console, print_json
from armgate.errors import DeclarationError
from armgate.loading.plan import make_plan
from armgate.loading.workspace import find_workspace


def validate(
    campaign: CampaignArgument, workspace: WorkspaceOption = None, as_json: JsonOption = False
) -> None:
    """Load a campaign and all that it names; exit 0 if it holds, 2 if not."""
    place = find_workspace(workspace, campaign.resolve().parent)
    try:
        plan = make_plan(place, campaign, known())
    except DeclarationError as error:
        if not as_json:
            raise
        print_json({"valid": False, "problems": [_problem(problem) for problem in error.problems]})
        raise typer.Exit(2) from None
    if as_json:
        print_json({"valid": True, "digest": plan.digest(), "counts": plan.counts.model_dump()})
        return
    counts = plan.counts
    console().print(
        f"{campaign}: valid; {counts.arms} arms, {counts.boots} boots, {counts.gates} gates a boot, "
        f"{counts.requests} requests",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )


def _problem(problem: object) -> dict[str, object]:
    fields = ("file", "line", "column", "where", "message", "hint")
    return {name: str(v) if name == "file" and v else v for name in fields for v in [getattr(problem, name)]}
