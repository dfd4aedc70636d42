"""Contract files: one strict YAML document each, with its examples."""

from __future__ import annotations

from pathlib import Path

from armgate.errors import DeclarationError, Problem
from armgate.loading.strict_yaml import load_document, validate
from armgate.loading.workspace import Workspace
from armgate.model.contract import Contract

FOLDER = "contracts"


def load_contract(path: Path) -> Contract:
    """The contract that a file declares. Raises DeclarationError with file, line and field."""
    return validate(load_document(path), Contract)


def load_shelf(workspace: Workspace) -> dict[Path, Contract]:
    """Every contract of a workspace by its file; all problems of all files at once."""
    shelf: dict[Path, Contract] = {}
    problems: list[Problem] = []
    for name in workspace.names(FOLDER, ".yaml"):
        path = workspace.root / FOLDER / f"{name}.yaml"
        try:
            shelf[path] = load_contract(path)
        except DeclarationError as error:
            problems += error.problems
            continue
        if shelf[path].id != name:
            problems.append(Problem(path, None, None, "id", f"is {shelf[path].id!r}, the file says {name!r}"))
    if problems:
        raise DeclarationError(problems)
    return shelf


def contract_path(named: str, workspace: Workspace) -> Path:
    """The file that `named` means: a path, or the id of a contract in the workspace."""
    path = Path(named)
    if path.suffix or path.is_file():
        return path
    return workspace.named(FOLDER, named, ".yaml")
