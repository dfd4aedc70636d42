"""`armgate pin CAMPAIGN`: branches, tags and paths become commits and digests, written into the file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from armgate.campaign.pin_file import pin_file, tree_of
from armgate.cli.options import JsonOption, WorkspaceOption
from armgate.cli.output import console, print_json
from armgate.errors import UsageError
from armgate.loading.workspace import find_workspace


def pin(
    campaign: Annotated[Path | None, typer.Argument(help="The campaign file.", show_default=False)] = None,
    workspace: WorkspaceOption = None,
    tree: Annotated[Path | None, typer.Option("--tree", help="Only print a folder's tree digest.")] = None,
    dry: Annotated[
        bool, typer.Option("--dry-run", help="Tell what would be written, and write nothing.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Resolve what moves into what does not. Exit code 4 where a hub or registry cannot be asked."""
    if tree is not None:
        digest = tree_of(tree)
        print_json({"tree": digest}) if as_json else console().print(digest, highlight=False)
        return
    if campaign is None:
        raise UsageError("a campaign file, or --tree FOLDER")
    resolved = pin_file(campaign, find_workspace(workspace, campaign.resolve().parent), write=not dry)
    if as_json:
        print_json(
            {"file": str(campaign), "written": not dry, "resolved": [one._asdict() for one in resolved]}
        )
        return
    for one in resolved:
        console().print(f"{one.pin}: {one.was} -> {one.now}", markup=False, highlight=False, soft_wrap=True)
    word = "nothing to resolve" if not resolved else "not written" if dry else f"written into {campaign}"
    console().print(word, markup=False, highlight=False, soft_wrap=True)
