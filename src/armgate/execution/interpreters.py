"""Which Python runs the answers outside a container, and which files of the host it needs to be shown."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from armgate.errors import SandboxUnavailable

OLDEST = (3, 9)

_QUESTION = (
    "import sys, sysconfig, json; p = sysconfig.get_paths();"
    "print(json.dumps([list(sys.version_info[:3]), sys.base_prefix, p['stdlib'], p['platstdlib']]))"
)


@dataclasses.dataclass(frozen=True)
class Interpreter:
    """A Python on this host. `needs` are the files and folders without which it does not start,
    `library` are the folders of its standard library."""

    path: Path
    version: str
    needs: tuple[Path, ...]
    library: tuple[Path, ...]


def find_interpreter(may_read: Callable[[Path], bool]) -> Interpreter:
    """The first usable Python: the one that runs Armgate, else the system's. `may_read` asks for the tier."""
    refused = []
    for path in _candidates():
        found = _examine(path)
        if found is None:
            continue
        hidden = next((need for need in found.needs if not may_read(need)), None)
        if hidden is None:
            return found
        refused.append(f"{found.path} needs {hidden}, which the sandbox's user may not read")
    because = "; ".join(refused) or "none was found"
    raise SandboxUnavailable(f"no Python for the sandbox: {because}. Install the system's python3")


def _candidates() -> Iterator[Path]:
    own = Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    seen = set()
    for path in (own, Path("/usr/bin/python3"), Path("/usr/local/bin/python3")):
        if path.exists() and path.resolve() not in seen:
            seen.add(path.resolve())
            yield path.resolve()


@functools.cache
def _examine(path: Path) -> Interpreter | None:
    try:
        answer = subprocess.run(
            [path, "-S", "-s", "-c", _QUESTION], capture_output=True, timeout=30, check=True
        ).stdout
        version, prefix, *library = json.loads(answer)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    if tuple(version[:2]) < OLDEST:
        return None
    own = [Path(prefix)] if not str(prefix).startswith("/usr") else [path, *map(Path, library)]
    system = [Path(p) for p in ("/usr/lib", "/usr/lib64", "/lib", "/lib64", "/etc/ld.so.cache")]
    needs = [p for p in (*own, *system) if p.exists()]
    folders = tuple(dict.fromkeys(map(Path, library)))
    return Interpreter(path, ".".join(map(str, version)), tuple(dict.fromkeys(needs)), folders)


ZONES = (Path("/usr/share/zoneinfo"), Path("/etc/localtime"))
"""Shown too where they exist; nothing fails without them."""


def readable_by_all(path: Path) -> bool:
    """Whether an unprivileged user other than the owner may reach and read `path`."""
    try:
        real = path.resolve(strict=True)
        reachable = all(parent.stat().st_mode & 0o001 for parent in real.parents)
        return reachable and bool(real.stat().st_mode & 0o004)
    except OSError:
        return False


def readable_by_me(path: Path) -> bool:
    return os.access(path, os.R_OK)
