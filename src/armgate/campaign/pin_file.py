"""Pinning a campaign file: who is asked for what, and the file replaced as a whole or not at all."""

from __future__ import annotations

from pathlib import Path

from armgate.engines.digests import file_digest, tree_digest
from armgate.engines.launchers.docker_host import registry_digest
from armgate.engines.resolving import hub_revision
from armgate.errors import UsageError
from armgate.loading.pinning import Resolved, Resolvers, pinned
from armgate.loading.workspace import Workspace
from armgate.reporting.run_folder import write_atomically


def pin_file(campaign: Path, workspace: Workspace, *, write: bool) -> tuple[Resolved, ...]:
    """What was resolved. With `write` the file holds it, its comments kept."""
    try:
        text = campaign.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{campaign} cannot be read: {error}") from None
    root = workspace.root
    resolvers = Resolvers(
        revision=hub_revision,
        digest=registry_digest,
        tree=lambda folder: tree_of(root / folder),
        sha256=lambda file: _sha256(root / file),
    )
    new, resolved = pinned(text, resolvers)
    if write and resolved:
        write_atomically(campaign, new.encode())
    return resolved


def tree_of(folder: Path) -> str:
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder")
    return tree_digest(folder.resolve())


def _sha256(file: Path) -> str:
    if not file.is_file():
        raise UsageError(f"{file} is no file")
    return file_digest(file.resolve())
