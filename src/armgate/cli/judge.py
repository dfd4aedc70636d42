"""`armgate judge RUN`: every verdict again from the recorded bytes, with no server."""

from __future__ import annotations

import contextlib
from typing import Annotated

import typer

from armgate.campaign.rejudge import Difference, Rejudged, rejudge, write_rejudged
from armgate.cli.options import JsonOption, RunArgument
from armgate.cli.output import console, inert, print_json
from armgate.cli.summary import summary
from armgate.reporting.run_folder import RunFolder

DIFFERS = 4


def judge(
    run: RunArgument,
    write: Annotated[
        bool,
        typer.Option("--write", help="Replace the recorded verdicts and quality records by the new ones."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Judge a run again. Exit code: the campaign's own, or 4 where the record differs and is kept."""
    folder = RunFolder(run)
    with folder.locked() if write else contextlib.nullcontext():
        again = rejudge(folder)
        if write and again.differences:
            write_rejudged(folder, again)
    code = again.result.exit_code if write or not again.differences else DIFFERS
    if as_json:
        print_json(_body(again, write, code))
    else:
        _tell(again, write)
    raise typer.Exit(code)


def _body(again: Rejudged, written: bool, code: int) -> dict[str, object]:
    return {
        "verdicts": again.verdict_count,
        "identical": not again.differences,
        "written": bool(written and again.differences),
        "differences": [difference.model_dump(mode="json") for difference in again.differences],
        "arms": {name: record.arm_verdict.value for name, record in again.result.records.items()},
        "exit_code": code,
    }


def _tell(again: Rejudged, written: bool) -> None:
    out = console()
    out.print(summary(again.result.records, again.result.comparison))
    if not again.differences:
        out.print(
            f"{again.verdict_count} verdicts judged again: all identical to the record", highlight=False
        )
        return
    out.print(f"{len(again.differences)} of {again.verdict_count} verdicts differ from the record:")
    for difference in again.differences:
        out.print(inert(_line(difference)), markup=False, highlight=False, soft_wrap=True)
    last = "The record was replaced." if written else "The record was left as it is; --write replaces it."
    out.print(last, highlight=False)


def _line(difference: Difference) -> str:
    return f"  {difference.file}: {difference.what}"
