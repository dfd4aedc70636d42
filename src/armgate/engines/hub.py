"""Snapshots in a local Hugging Face cache: where one is, and whether its files are what the hub named them.

The cache keeps a repository's files as `blobs/<etag>` and a commit as links to them. The etag of a file in
large-file storage is the sha256 of its content, that of any other file its Git blob id.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from armgate.engines.digests import GIT_BLOB, SHA256, file_digest
from armgate.errors import BootError
from armgate.model.pins import HfPin

_ETAG = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Where the hub's own library would look, with the variables that a server is given."""
    home = environment.get("HF_HOME") or os.environ.get("HF_HOME") or "~/.cache/huggingface"
    return Path(
        environment.get("HF_HUB_CACHE") or os.environ.get("HF_HUB_CACHE") or Path(home) / "hub"
    ).expanduser()


def repository_folder(pin: HfPin, cache: Path) -> Path:
    return cache / f"models--{pin.hf.replace('/', '--')}"


def snapshot_path(pin: HfPin, cache: Path) -> Path:
    """Where the snapshot of the pinned commit is, if it is there."""
    return repository_folder(pin, cache) / "snapshots" / pin.revision


def snapshot_folder(pin: HfPin, cache: Path) -> Path:
    """The snapshot of the pinned commit, or BootError `revision_missing`: engines are started offline."""
    folder = snapshot_path(pin, cache)
    if not folder.is_dir():
        raise BootError(
            "revision_missing",
            f"{pin.hf} at {pin.revision} is not in {cache}, and engines are started offline; "
            f"`hf download {pin.hf} --revision {pin.revision}` fetches it",
        )
    return folder


def wrong_files(folder: Path) -> tuple[list[str], int, int]:
    """(files whose content is not what their name in the cache says, files compared, files in all)."""
    wrong = []
    compared = 0
    files = sorted(path for path in folder.rglob("*") if path.is_symlink() or path.is_file())
    for path in files:
        name = path.relative_to(folder).as_posix()
        blob = path.resolve()
        if not blob.is_file():
            wrong.append(f"{name} (missing)")
        elif path.is_symlink() and _ETAG.fullmatch(blob.name):
            compared += 1
            if file_digest(blob, SHA256 if len(blob.name) == 64 else GIT_BLOB) != blob.name:
                wrong.append(name)
    return wrong, compared, len(files)
