"""`armgate verify RUN`: every file of a run against its SHA256SUMS."""

from __future__ import annotations

import typer

from armgate.cli.options import JsonOption, RunArgument
from armgate.cli.output import console, inert, print_json
from armgate.errors import UsageError
from armgate.reporting.checksums import NAME, Verification
from armgate.reporting.checksums import verify as verify_sums

DIFFERS = 1


def verify(run: RunArgument, as_json: JsonOption = False) -> None:
    """Name every changed, missing and extra file. Exit code: 0 none, 1 some, 4 no sums to go by."""
    if not run.is_dir():
        raise UsageError(f"{run} is no folder")
    result = verify_sums(run)
    if as_json:
        print_json({"intact": result.intact, **result.model_dump(mode="json")})
    else:
        _tell(result)
    raise typer.Exit(0 if result.intact else DIFFERS)


def _tell(result: Verification) -> None:
    out = console()
    for word, paths in (("changed", result.changed), ("missing", result.missing), ("extra", result.extra)):
        for path in paths:
            out.print(f"{word}: {inert(path)}", markup=False, highlight=False, soft_wrap=True)
    counts = f"{len(result.changed)} changed, {len(result.missing)} missing, {len(result.extra)} extra"
    last = "all as recorded" if result.intact else counts
    out.print(f"{result.files} files in {NAME}: {last}", highlight=False)
