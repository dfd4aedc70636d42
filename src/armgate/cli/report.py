"""`armgate report RUN`: the page, tables and machine files of a run, made anew from its recorded files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from armgate.campaign.facts import run_facts
from armgate.campaign.publication import is_judgeable
from armgate.campaign.rejudge import rejudge
from armgate.campaign.report import renew_report
from armgate.cli.options import JsonOption, RunArgument
from armgate.cli.output import console, error_console, print_json
from armgate.reporting.page.side_by_side import side_by_side_page
from armgate.reporting.run_folder import RunFolder, write_atomically
from armgate.reporting.step_summary import step_summary

DIFFERS = 4


AgainstOption = Annotated[
    Path | None, typer.Option("--against", help="Another run: one page with both, side by side.")
]
OutOption = Annotated[Path | None, typer.Option("--out", help="With --against: the page's file.")]


def report(
    run: RunArgument,
    summary: Annotated[
        bool, typer.Option("--summary", help="Print the run as Markdown, as for a CI job's summary.")
    ] = False,
    against: AgainstOption = None,
    out: OutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a run's report again. Exit code: 0, or 4 where verdicts are not what the evidence gives."""
    if against is not None:
        _side_by_side(run, against, out)
        return
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
            _tell(run / name)
    raise typer.Exit(code)


def _side_by_side(run: Path, against: Path, out: Path | None) -> None:
    """The page lies outside both runs, of which it is no part."""
    left, right = (run_facts(RunFolder(folder)) for folder in (run, against))
    place = out or Path(f"{_last(left.name)}-against-{_last(right.name)}.html")
    write_atomically(place, side_by_side_page(left, right))
    _tell(place)


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def _tell(path: Path) -> None:
    console().print(str(path), markup=False, highlight=False, soft_wrap=True)
