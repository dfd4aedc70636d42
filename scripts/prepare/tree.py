"""sha256 of files, and one digest for a whole folder."""

from __future__ import annotations

import hashlib
from pathlib import Path


def file_sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def file_digests(folder: Path) -> dict[str, str]:
    """Relative POSIX path -> sha256 in hex, of every file below `folder`, hidden ones too."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): file_sha256(path) for path in files}


def tree_digest(folder: Path) -> str:
    """`sha256:` + hex over lines `<sha256 hex>  <relative path>` in order of the paths' bytes.

    The same digest as a campaign's pin `{dir: ..., tree: ...}`.
    """
    entries = sorted((name.encode(), digest) for name, digest in file_digests(folder).items())
    lines = b"".join(digest.encode() + b"  " + name + b"\n" for name, digest in entries)
    return "sha256:" + hashlib.sha256(lines).hexdigest()
