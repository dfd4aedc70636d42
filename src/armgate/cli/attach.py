"""`armgate attach URL --ladder L`: a ladder on a server that somebody else booted, and no campaign."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from armgate.campaign.attaching import attached_campaign
from armgate.campaign.known import known
from armgate.campaign.run import start
from armgate.cli.options import JsonOption, WorkspaceOption
from armgate.cli.orphans import offer_orphans
from armgate.cli.running import OutOption, QuietOption, TierOption, default_out, progress_to, run_plan, tell
from armgate.loading.plan import plan_without_file
from armgate.loading.workspace import find_workspace


def attach(
    url: Annotated[str, typer.Argument(help="The server, with or without /v1.", show_default=False)],
    ladder: Annotated[str, typer.Option("--ladder", help="A ladder of the workspace: gates/NAME.yaml.")],
    engine: Annotated[
        str, typer.Option("--engine", help="What the server is, as campaigns name it.")
    ] = "openai",
    model: Annotated[str | None, typer.Option("--model", help="Its id, where several are offered.")] = None,
    api_key_file: Annotated[Path | None, typer.Option("--api-key-file", help="A file with the key.")] = None,
    api_key_env: Annotated[str | None, typer.Option("--api-key-env", help="A variable with the key.")] = None,
    workspace: WorkspaceOption = None,
    out: OutOption = None,
    tier: TierOption = "auto",
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Judge a running server. Requests use its capacity and change its caches; nothing else is touched."""
    place = find_workspace(workspace, Path.cwd())
    campaign = attached_campaign(url, ladder, engine, model, api_key_file, api_key_env)
    plan = plan_without_file(place, campaign, known())
    folder = start(plan, out or default_out(place), "")
    offer_orphans()
    with folder.locked(), progress_to(quiet) as progress:
        result = run_plan(plan, folder, place, tier, progress)
    tell(result, folder.root, as_json)
    raise typer.Exit(result.exit_code)
