"""`armgate publish RUN DEST --replies yes|no`: a copy of a run that may be shown to anybody."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from armgate.campaign.publish import publish as publish_run
from armgate.cli.options import JsonOption, RunArgument
from armgate.cli.output import console, print_json
from armgate.errors import UsageError
from armgate.model.publication import Replies
from armgate.reporting.run_folder import RunFolder


def publish(
    run: RunArgument,
    destination: Annotated[Path, typer.Argument(metavar="DEST", help="The copy; must not exist yet.")],
    replies: Annotated[
        str | None,
        typer.Option("--replies", help="yes or no: whether raw replies are published. Has to be said."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Publish a run: an allow-listed copy, judged again from the copy and searched for secrets and names."""
    if replies not in ("yes", "no"):
        raise UsageError(
            "say --replies yes or --replies no: replies prove the verdicts, and are a model's whole words"
        )
    made = publish_run(RunFolder(run), destination, cast("Replies", replies))
    if as_json:
        print_json(made.record.model_dump(mode="json"))
        return
    out = console()
    for one in made.record.searched:
        line = f"searched for {one.strings} of kind {one.kind} in {one.files} files: {one.found} found"
        out.print(line, highlight=False)
    state = "re-judgeable" if made.record.re_judgeable else "not re-judgeable"
    out.print(f"{made.root}: {state}", markup=False, highlight=False, soft_wrap=True)
