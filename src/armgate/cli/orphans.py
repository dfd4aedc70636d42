"""`armgate orphans`: what boots of an Armgate that is gone left on this machine, and its removal."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from armgate.cli.options import JsonOption
from armgate.cli.output import console, error_console, print_json
from armgate.engines.orphans import Orphan, find_orphans, remove_orphans


def orphans(
    remove: Annotated[bool, typer.Option("--remove", help="End and remove what is listed.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List processes, containers and folders of boots whose Armgate no longer runs. Others are left alone."""
    found = find_orphans()
    if remove:
        remove_orphans(found)
    if as_json:
        print_json({"removed": remove, "orphans": [orphan._asdict() for orphan in found]})
        return
    for orphan in found:
        console().print(_line(orphan), markup=False, highlight=False, soft_wrap=True)
    console().print(f"{len(found)} {'removed' if remove else 'found'}", highlight=False)


def offer_orphans() -> None:
    """Before a run starts: ask a person at a terminal whether leftovers may go; tell anyone else of them."""
    found = find_orphans()
    if not found:
        return
    for orphan in found:
        error_console().print(f"left by an earlier run: {_line(orphan)}", markup=False, highlight=False)
    if sys.stdin.isatty() and sys.stderr.isatty():
        if typer.confirm("remove them?", err=True):
            remove_orphans(found)
    else:
        error_console().print("`armgate orphans --remove` removes them", markup=False, highlight=False)


def _line(orphan: Orphan) -> str:
    return f"{orphan.kind} {orphan.name}" + (f" of {orphan.label}" if orphan.label else "")
