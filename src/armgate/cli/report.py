"""`armgate report RUN`: the page, tables and machine files of a run, made anew from its recorded files."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from armgate.campaign.publication import is_judgeable
from armgate.campaign.rejudge import rejudge
from armgate.campaign.report import renew_report
from armgate.cli.options import JsonOption, RunArgument
from armgate.cli.output import console, error_console, print_json
from armgate.reporting.run_folder import RunFolder
from armgate.reporting.step_summary import step_summary

DIFFERS = 4


def report(
    run: RunArgument,
    summary: Annotated[
        bool, typer.Option("--summary", help="Print the run as Markdown, as for a CI job's summary.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Write a run's report again. Exit code: 0, or 4 where verdicts are not what the evidence gives."""
    folder = RunFolder(run)
    with folder.locked():
        facts, files = renew_report(folder)
    differences = rejudge(folder).differences if is_judgeable(folder) else ()
    code = DIFFERS if differences else 0
    if differences:
        error_console().print(
            f"{len(differences)} files are not what the evidence gives now; `armgate judge` shows them",
            markup=False,
            highlight=False,
        )
    if summary:
        sys.stdout.write(step_summary(facts))
    elif as_json:
        print_json({"files": sorted(files), "differences": [d.file for d in differences], "exit_code": code})
    else:
        for name in files:
            console().print(str(run / name), markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(code)
