"""Append-only JSON Lines files: the attempt ledger and the verdicts. A torn last line is never half-read."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from armgate.errors import RecordError
from armgate.model.base import Json


class Journal:
    """Appends objects to a file, each durable before `append` returns.

    Opening a file whose last line lacks its end (a crash while appending) moves those bytes to
    `<file>.torn` first. Raises RecordError where the disk refuses.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _set_torn_aside(path)
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise RecordError(f"{path} cannot be written: {error.strerror}") from None

    def append(self, entry: Mapping[str, Json]) -> None:
        try:
            write_all(self._file, journal_line(entry))
            os.fdatasync(self._file)
        except OSError as error:
            raise RecordError(f"{self.path} cannot be written: {error.strerror}") from None

    def close(self) -> None:
        os.close(self._file)

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def journal_line(entry: Mapping[str, Json]) -> bytes:
    """An entry as it stands in a journal: ASCII JSON without spaces, and the end of its line."""
    return json.dumps(dict(entry), separators=(",", ":")).encode() + b"\n"


def read_journal(path: Path) -> list[dict[str, Json]]:
    """All whole lines in order, none where there is no file; a torn last line is left out.

    Raises RecordError, with its number, for a line before it that is no object.
    """
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}") from None
    return [_entry(path, number, line) for number, line in enumerate(lines, start=1)]


def write_all(file: int, data: bytes) -> None:
    """`os.write` until everything is written; a full disk or a signal may make it take less."""
    while data:
        data = data[os.write(file, data) :]


def _entry(path: Path, number: int, line: bytes) -> dict[str, Json]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        entry = None
    if not isinstance(entry, dict):
        raise RecordError(f"{path}:{number}: damaged: a line of this file is one JSON object")
    return entry


def _set_torn_aside(path: Path) -> None:
    data = path.read_bytes() if path.exists() else b""
    whole = data.rfind(b"\n") + 1
    if whole == len(data):
        return
    with path.with_name(f"{path.name}.torn").open("ab") as aside:
        aside.write(data[whole:] + b"\n")
        aside.flush()
        os.fsync(aside.fileno())
    os.truncate(path, whole)
