"""The workspace: the folder with `campaigns/` from which every name of a campaign is resolved."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path

import armgate
from armgate.errors import DeclarationError, Problem, UsageError
from armgate.loading.strict_yaml import nearest


@dataclasses.dataclass(frozen=True)
class Workspace:
    """A root folder. Paths that a declared file names stay inside it."""

    root: Path

    def path(self, relative: str) -> Path:
        """A path inside the workspace; one that leaves it, also through a link, is refused."""
        path = (self.root / relative).resolve()
        if not path.is_relative_to(self.root.resolve()):
            raise DeclarationError([Problem(None, None, None, relative, f"leaves the workspace {self.root}")])
        return path

    def relative(self, path: Path) -> str:
        """The path as written in records: relative to the workspace where it lies inside."""
        resolved = path.resolve()
        root = self.root.resolve()
        return resolved.relative_to(root).as_posix() if resolved.is_relative_to(root) else resolved.as_posix()

    def named(self, folder: str, name: str, suffix: str) -> Path:
        """`<folder>/<name><suffix>`, or a DeclarationError that names the nearest one there is."""
        path = self.root / folder / f"{name}{suffix}"
        if not path.exists():
            hint = nearest(name, self.names(folder, suffix))
            raise DeclarationError(
                [Problem(None, None, None, name, f"no such file: {folder}/{name}{suffix}", hint)]
            )
        return path

    def names(self, folder: str, suffix: str) -> list[str]:
        return sorted(p.name.removesuffix(suffix) for p in (self.root / folder).glob(f"*{suffix}"))


def _ancestors(start: Path) -> Iterable[Path]:
    yield start
    yield from start.parents


def find_workspace(given: Path | None = None, start: Path | None = None) -> Workspace:
    """The folder given, else the nearest ancestor with `campaigns/`, else the copy in the wheel."""
    if given is not None:
        if not (given / "campaigns").is_dir():
            raise UsageError(f"{given} is no workspace: it has no folder campaigns/")
        return Workspace(given.resolve())
    for folder in _ancestors((start or Path.cwd()).resolve()):
        if (folder / "campaigns").is_dir():
            return Workspace(folder)
    shipped = Path(armgate.__file__).parent / "workspace"
    if (shipped / "campaigns").is_dir():
        return Workspace(shipped)
    raise UsageError("no workspace found: no folder campaigns/ here or above; give one with --workspace")
