"""`SHA256SUMS`: the digest of every file of a run, in the form that `sha256sum -c` reads."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from armgate.errors import RecordError
from armgate.model.base import Frozen
from armgate.reporting.run_folder import write_atomically

NAME = "SHA256SUMS"
_LINE = re.compile(r"(?P<digest>[0-9a-f]{64}) [ *](?P<path>\S.*)")
_CHUNK_BYTES = 1 << 20


class Verification(Frozen):
    """A run's files against its `SHA256SUMS`; paths are relative to the run, sorted."""

    files: int
    """Files that `SHA256SUMS` names."""
    changed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()

    @property
    def intact(self) -> bool:
        return not (self.changed or self.missing or self.extra)


def verify(root: Path) -> Verification:
    """Every file of the run against its sum. RecordError where there are no sums or they cannot be read."""
    sums = read_sums(root)
    there = set(files_of(root))
    return Verification(
        files=len(sums),
        changed=tuple(sorted(p for p in there & sums.keys() if file_digest(root / p) != sums[p])),
        missing=tuple(sorted(sums.keys() - there)),
        extra=tuple(sorted(there - sums.keys())),
    )


def write_sums(root: Path) -> None:
    """Digest everything that is there. Written last, so that a run without it was not finished."""
    _write(root, {path: file_digest(root / path) for path in files_of(root)})


def renew_sums(root: Path, replaced: Iterable[str]) -> None:
    """New sums for files that were derived anew. Those of other files stay, so no change is covered up."""
    if not (root / NAME).exists():
        return
    _write(root, read_sums(root) | {path: file_digest(root / path) for path in replaced})


def drop_sums(root: Path) -> None:
    """A run that goes on has none until it ends again."""
    (root / NAME).unlink(missing_ok=True)


def read_sums(root: Path) -> dict[str, str]:
    """Path -> SHA-256 in hex. A path that leaves the run is no path of a run."""
    file = root / NAME
    try:
        lines = file.read_text("utf-8").splitlines()
    except FileNotFoundError:
        raise RecordError(
            f"{root} has no {NAME}: it is no run's folder, or the run was not finished"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise RecordError(f"{file} cannot be read: {error}") from None
    return dict(_entry(file, number, line) for number, line in enumerate(lines, 1))


def files_of(root: Path) -> list[str]:
    """Every file, link and other non-directory below `root` but the sums themselves, sorted."""
    found = []
    for folder, folders, files in os.walk(root):
        links = [name for name in folders if Path(folder, name).is_symlink()]
        found += [Path(folder, name).relative_to(root).as_posix() for name in (*files, *links)]
    return sorted(path for path in found if path != NAME)


def file_digest(path: Path) -> str:
    """SHA-256 of a regular file; of anything else (a link, a pipe) a word that no sum equals."""
    if path.is_symlink() or not path.is_file():
        return "not a regular file"
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def _write(root: Path, sums: Mapping[str, str]) -> None:
    text = "".join(f"{sums[path]}  {path}\n" for path in sorted(sums))
    write_atomically(root / NAME, text.encode("utf-8", "surrogateescape"))


def _entry(file: Path, number: int, line: str) -> tuple[str, str]:
    match = _LINE.fullmatch(line)
    path = Path(match["path"]) if match else None
    if match is None or path is None or path.is_absolute() or ".." in path.parts:
        raise RecordError(f"{file}:{number}: expected 64 hex digits, two spaces and a path in the run")
    return match["path"], match["digest"]
