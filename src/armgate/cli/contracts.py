"""`armgate contracts`: the contracts of a workspace, listed and tested against their own examples."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from armgate.cli.options import JsonOption, WorkspaceOption
from armgate.cli.output import console, inert, print_json
from armgate.judging.examples import BrokenExample, failing_examples
from armgate.loading.contracts import contract_path, load_contract, load_shelf
from armgate.loading.workspace import find_workspace
from armgate.model.contract import Contract

contracts = typer.Typer(no_args_is_help=True, help="Contracts: list them, test their examples.")

NamesArgument = Annotated[
    list[str] | None,
    typer.Argument(help="Files or ids; all of the workspace by default.", show_default=False),
]


@contracts.command("list")
def list_(workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """Every contract of the workspace with what it promises."""
    shelf = load_shelf(find_workspace(workspace))
    if as_json:
        print_json([_summary(path, contract) for path, contract in shelf.items()])
        return
    for contract in shelf.values():
        line = f"{contract.id:<28} {contract.says}"
        console().print(inert(line), markup=False, highlight=False, soft_wrap=True)


def _summary(path: Path, contract: Contract) -> dict[str, object]:
    return {
        "id": contract.id,
        "file": str(path),
        "says": contract.says,
        "clauses": [{clause.name: clause.tolerances} for clause in contract.clauses],
    }


@contracts.command("test")
def hold_examples(
    names: NamesArgument = None, workspace: WorkspaceOption = None, as_json: JsonOption = False
) -> None:
    """Run contracts against their own examples; exit 1 if one does not hold."""
    shelf = _chosen(names, workspace)
    broken = {path: failing_examples(contract) for path, contract in shelf.items()}
    if as_json:
        print_json([_tested(path, shelf[path], found) for path, found in broken.items()])
    else:
        for path, found in broken.items():
            _show(path, shelf[path], found)
    if any(broken.values()):
        raise typer.Exit(1)


def _chosen(names: list[str] | None, workspace: Path | None) -> dict[Path, Contract]:
    if not names:
        return load_shelf(find_workspace(workspace))
    # A path needs no workspace around it.
    paths = [Path(n) if Path(n).is_file() else contract_path(n, find_workspace(workspace)) for n in names]
    return {path: load_contract(path) for path in paths}


def _tested(path: Path, contract: Contract, found: tuple[BrokenExample, ...]) -> dict[str, object]:
    return {
        "id": contract.id,
        "file": str(path),
        "examples": len(contract.examples.passing) + len(contract.examples.fail),
        "holds": not found,
        "broken": [
            {
                "which": one.which,
                "number": one.number,
                "message": one.message,
                "violations": [violation.model_dump(mode="json") for violation in one.violations],
            }
            for one in found
        ],
    }


def _show(path: Path, contract: Contract, found: tuple[BrokenExample, ...]) -> None:
    examples = contract.examples
    count = f"{len(examples.passing)} passing, {len(examples.fail)} failing examples"
    out = console()
    out.print(f"{'x' if found else '+'} {contract.id}  {count}", markup=False, highlight=False)
    for one in found:
        out.print(inert(f"    {path}: {one}"), markup=False, highlight=False, soft_wrap=True)
