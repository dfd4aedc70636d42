"""A virtual environment made from a lock file, and the stamp that says it is whole."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from prepare import program

STAMP = "armgate-stamp.json"
PIP = ("-m", "pip", "--no-input", "--disable-pip-version-check")

_LISTING = """
import importlib.metadata as metadata, json
print(json.dumps(sorted({f"{d.metadata['Name']}=={d.version}" for d in metadata.distributions()})))
"""


@dataclasses.dataclass(frozen=True)
class Environment:
    """`inputs` are the files that decide its content, `more` what else does; a change makes it anew."""

    folder: Path
    inputs: tuple[Path, ...]
    log: Path
    more: str = ""

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def key(self) -> str:
        """Digest of everything that the content depends on; the folder too, since scripts in it name it."""
        digest = hashlib.sha256()
        version = ".".join(map(str, sys.version_info[:2]))
        for part in (str(self.folder), platform.machine(), version, self.more):
            digest.update(part.encode() + b"\0")
        for path in self.inputs:
            digest.update(path.read_bytes() + b"\0")
        return digest.hexdigest()

    def is_whole(self) -> bool:
        """Whether it was finished with these inputs and still holds the same packages."""
        try:
            stamp: dict[str, object] = json.loads((self.folder / STAMP).read_text())
        except (OSError, ValueError):
            return False
        return stamp.get("key") == self.key and stamp.get("packages") == self.packages()

    def packages(self) -> list[str] | None:
        """`name==version` of everything installed; `None` where its interpreter does not run."""
        try:
            done = subprocess.run(
                [self.python, "-I", "-c", _LISTING], capture_output=True, timeout=120, check=True
            )
        except (OSError, subprocess.SubprocessError):
            return None
        listing: list[str] = json.loads(done.stdout)
        return listing

    def make(self, fill: Callable[[Environment], None]) -> None:
        """Make it from nothing: `fill` installs, the stamp comes last.

        A folder without a stamp is what an interruption left, and is removed here.
        """
        shutil.rmtree(self.folder, ignore_errors=True)
        program.run(
            [sys.executable, "-m", "venv", self.folder],
            self.log,
            "apt-get install python3-venv (Debian), or set ARMGATE_PYTHON to another Python",
        )
        fill(self)
        self._write_stamp()

    def install(self, *arguments: str | Path) -> None:
        program.run(
            [self.python, *PIP, "install", "--no-deps", "--progress-bar", "off", *arguments],
            self.log,
            f"read {self.log}; a second run starts this step again",
        )

    def _write_stamp(self) -> None:
        text = json.dumps({"key": self.key, "packages": self.packages()}, indent=1)
        part = self.folder / (STAMP + ".part")
        with part.open("w") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(self.folder / STAMP)
