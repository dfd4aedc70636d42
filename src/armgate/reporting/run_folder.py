"""The run folder: where everything of a run stands, and how its derived files are replaced atomically."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

from armgate.errors import RecordError
from armgate.model.base import Json


@dataclasses.dataclass(frozen=True)
class BootFolder:
    """`arms/<arm>/boots/<nn>/`: the raw evidence of one boot and its verdicts."""

    root: Path

    @property
    def record(self) -> Path:
        return self.root / "boot.json"

    @property
    def log(self) -> Path:
        return self.root / "server.log"

    @property
    def ledger(self) -> Path:
        return self.root / "ledger.jsonl"

    @property
    def verdicts(self) -> Path:
        return self.root / "verdicts.jsonl"

    @property
    def telemetry(self) -> Path:
        return self.root / "telemetry"

    def exchange(self, gate: str, name: str) -> Path:
        """Stem of an exchange file; the recorder adds its suffix."""
        return self.root / "exchanges" / gate / name

    def execution(self, gate: str, sample: str) -> Path:
        return self.root / "executions" / gate / f"{sample}.json"

    def relative(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def create(self) -> None:
        for folder in ("exchanges", "executions", "telemetry"):
            (self.root / folder).mkdir(parents=True, exist_ok=True)


@dataclasses.dataclass(frozen=True)
class RunFolder:
    """`runs/<campaign>/<utc>-<short digest>/`."""

    root: Path

    @property
    def plan(self) -> Path:
        return self.root / "plan.json"

    @property
    def comparison(self) -> Path:
        return self.root / "comparison.json"

    @property
    def publication(self) -> Path:
        """Only in a published copy."""
        return self.root / "publication.json"

    def quality(self, arm: str) -> Path:
        return self.root / "arms" / arm / "quality.json"

    def boot(self, arm: str, number: int) -> BootFolder:
        return BootFolder(self.root / "arms" / arm / "boots" / f"{number:02d}")

    def supersede(self, arm: str, number: int) -> Path | None:
        """Set a boot's folder aside, whole, as `<nn>.superseded-<k>`; `None` where there is none."""
        folder = self.boot(arm, number).root
        taken = len(list(folder.parent.glob(f"{folder.name}.superseded-*")))
        aside = folder.with_name(f"{folder.name}.superseded-{taken + 1}")
        try:
            folder.rename(aside)
            sync_folder(folder.parent)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise RecordError(f"{folder} cannot be set aside: {error.strerror}") from None
        return aside

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep every other writer out; the lock is on the folder itself and dies with its process."""
        try:
            handle = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise RecordError(f"{self.root} is no run folder: {error.strerror}") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            raise RecordError(f"{self.root} is being written by another armgate") from None
        try:
            yield
        finally:
            os.close(handle)

    @classmethod
    def create(cls, parent: Path, campaign: str, stamp: str, digest: str) -> RunFolder:
        """A new folder of its own; two runs never share one."""
        short = digest.removeprefix("sha256:")[:8]
        root = parent / campaign / f"{stamp}-{short}"
        try:
            root.mkdir(parents=True)
        except FileExistsError:
            raise RecordError(f"{root} exists already; another run started in the same second") from None
        except OSError as error:
            raise RecordError(f"{root} cannot be made: {error.strerror}") from None
        return cls(root)


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a derived file: readers see the old bytes or the new ones, never a part."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            Path(temporary).chmod(0o644)
            os.replace(temporary, path)  # noqa: PTH105 - the atomic call, by its own name
            sync_folder(path.parent)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)  # noqa: PTH108
            raise
    except OSError as error:
        raise RecordError(f"{path} cannot be written: {error.strerror}") from None


def sync_folder(folder: Path) -> None:
    """Make a renaming in `folder` outlive a loss of power."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def json_bytes(value: Json) -> bytes:
    """The form of every JSON file of a run: UTF-8, two spaces, keys as given, one newline at the end."""
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    # A lone surrogate in a model's text has no UTF-8 form; written as an escape it is still valid JSON.
    return text.encode("utf-8", "backslashreplace")


def model_bytes(record: BaseModel) -> bytes:
    return json_bytes(record.model_dump(mode="json", by_alias=True))


def write_model(path: Path, record: BaseModel) -> None:
    write_atomically(path, model_bytes(record))
