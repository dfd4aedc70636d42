"""One exchange on disk while it happens: a JSON Lines file that a crash leaves readable, and its finish."""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from armgate.client.journal import write_all
from armgate.client.secrets import NO_SECRETS, Masker, Secrets
from armgate.errors import RecordError
from armgate.model.base import Json
from armgate.model.exchange import Clock, Exchange, Fate, Frame
from armgate.model.exchange_form import render_answer, render_head, render_read, render_trailer

COMPRESS_ABOVE_BYTES = 256 * 1024

RECORDED_HEADERS = frozenset(
    ("content-type", "content-length", "content-encoding", "transfer-encoding", "date", "server", "location",
     "retry-after", "via", "x-request-id", "x-correlation-id", "openai-model", "openai-processing-ms")
)  # fmt: skip


class Recorder:
    """Writes `<stem>.jsonl`: the request's head, the answer's head, every read as it comes, a trailer.

    Nothing is buffered here, so a killed process loses at most a read that may begin a secret. Raises
    RecordError where the disk refuses, and where the file is there already: attempts are kept.
    """

    def __init__(self, stem: Path, secrets: Secrets = NO_SECRETS) -> None:
        self.path = stem.with_name(f"{stem.name}.jsonl")
        self.frames: list[Frame] = []
        self._secrets = secrets
        self._masker = Masker(secrets)
        self._request: dict[str, Json] = {}
        self._endpoint = ""
        self._status: int | None = None
        self._headers: dict[str, str] = {}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file: int | None = os.open(
                self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644
            )
        except OSError as error:
            raise RecordError(f"{self.path} cannot be begun: {error.strerror}") from None

    def head(self, request: Mapping[str, Json], endpoint: str) -> None:
        """The request's body as it will be sent; to be called before it is handed to the socket."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = self._secrets.masked(render_head(request, endpoint, now))
        self._request, self._endpoint = json.loads(line)["request"], endpoint
        self._write(line)

    def answer(self, status: int, headers: Mapping[str, str], headers_s: float) -> None:
        self._status = status
        names = {name.lower(): text for name, text in headers.items()}
        self._headers = {
            name: self._secrets.masked_text(text) for name, text in names.items() if name in RECORDED_HEADERS
        }
        self._write(render_answer(status, self._headers, headers_s))

    def read(self, at_s: float, data: bytes) -> None:
        """One network read; `at_s` was taken before anything looked at the bytes."""
        self._keep(self._masker.feed(round(at_s, 7), data))

    def finish(self, fate: Fate, clock: Clock, error: str | None, left_open: bool = False) -> Exchange:
        """Writes the trailer, makes the file durable, compresses a big one; the exchange as recorded."""
        told = None if error is None else self._secrets.masked_text(error)
        try:
            self._keep(self._masker.finish())
            self._write(render_trailer(fate, clock, self._masker.masks, told, left_open), durable=True)
        finally:
            self.close()
        _compress_if_big(self.path)
        return Exchange(
            request=self._request, status=self._status, headers=self._headers, frames=tuple(self.frames),
            fate=fate, clock=clock, error=told, masks=self._masker.masks, endpoint=self._endpoint,
            left_open=left_open,
        )  # fmt: skip

    def close(self) -> None:
        """Lets go of the file as it is; `finish` does this too."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _keep(self, frames: list[Frame]) -> None:
        for frame in frames:
            self.frames.append(frame)
            self._write(render_read(*frame))

    def _write(self, line: bytes, durable: bool = False) -> None:
        if self._file is None:
            raise ValueError("this recording is finished")
        try:
            write_all(self._file, line)
            if durable:
                os.fsync(self._file)
        except OSError as error:
            raise RecordError(f"{self.path} cannot be written: {error.strerror}") from None


def recording_at(path: Path) -> Path | None:
    """The file of a recording named `<stem>.jsonl`: itself, else its compressed form, else `None`."""
    compressed = path.with_name(f"{path.name}.gz")
    return next((file for file in (path, compressed) if file.exists()), None)


def _compress_if_big(path: Path) -> None:
    """Replaces a big file by its gzip form, the same bytes for the same content; never leaves neither."""
    try:
        if path.stat().st_size > COMPRESS_ABOVE_BYTES:
            part = path.with_name(f"{path.name}.gz.part")
            part.write_bytes(_gzipped(path.read_bytes()))
            _sync(part)
            part.replace(path.with_name(f"{path.name}.gz"))
            path.unlink()
        _sync(path.parent)
    except OSError as error:
        raise RecordError(f"{path} cannot be compressed: {error.strerror}") from None


def _gzipped(data: bytes) -> bytes:
    out = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=out, mtime=0) as file:
        file.write(data)
    return out.getvalue()


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
