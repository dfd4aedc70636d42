"""Memory and process-count control groups, version 2 or 1, where this process may make them."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import secrets
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")

_ENTER = 'while [ "$1" != -- ]; do echo 0 >"$1" || exit 125; shift; done; shift; exec "$@"'
"""Writing 0 moves the writer itself, so everything that it starts is inside from the first instant."""


@dataclasses.dataclass(frozen=True)
class ControlGroup:
    """One group per hierarchy: one folder under version 2, two under version 1."""

    folders: tuple[Path, ...]

    @classmethod
    def available(cls, root: Path = ROOT) -> bool:
        return bool(_parents(root))

    @classmethod
    def create(cls, memory_mb: int, processes: int, root: Path = ROOT) -> ControlGroup | None:
        """None where groups cannot be had; the limits are then those of the process alone."""
        name = f"armgate-{os.getpid()}-{secrets.token_hex(4)}"
        group = cls(tuple(parent / name for parent in _parents(root)))
        if not group.folders:
            return None
        try:
            for folder in group.folders:
                folder.mkdir()
                _write_limits(folder, memory_mb << 20, processes)
        except OSError:
            group.remove()
            return None
        return group

    def entering(self, argv: Sequence[str]) -> list[str]:
        """`argv` started inside this group."""
        doors = [str(folder / "cgroup.procs") for folder in self.folders]
        return ["/bin/sh", "-c", _ENTER, "sh", *doors, "--", *argv]

    def oom_kills(self) -> int:
        for folder in self.folders:
            for name in ("memory.events", "memory.oom_control"):
                with contextlib.suppress(OSError, ValueError):
                    fields = dict(line.split() for line in (folder / name).read_text().splitlines())
                    return int(fields.get("oom_kill", 0))
        return 0

    def remove(self) -> None:
        """Waits a moment for the last process to be gone: a group that holds one cannot be removed."""
        until = time.monotonic() + 2
        for folder in self.folders:
            while folder.is_dir():
                try:
                    folder.rmdir()
                except OSError:
                    if time.monotonic() > until:
                        break
                    time.sleep(0.005)


def _parents(root: Path) -> tuple[Path, ...]:
    """Where groups with memory and process limits can be made here."""
    if (root / "cgroup.subtree_control").exists():
        enabled = (root / "cgroup.subtree_control").read_text().split()
        usable = {"memory", "pids"} <= set(enabled) and os.access(root, os.W_OK)
        return (root,) if usable else ()
    parents = tuple(root / name for name in ("memory", "pids"))
    return parents if all(os.access(parent / "cgroup.procs", os.W_OK) for parent in parents) else ()


def _write_limits(folder: Path, memory_bytes: int, processes: int) -> None:
    limits = {
        "memory.max": memory_bytes,
        "memory.swap.max": 0,
        "memory.limit_in_bytes": memory_bytes,
        "memory.memsw.limit_in_bytes": memory_bytes,
        "pids.max": processes,
    }
    for name, value in limits.items():
        if (folder / name).exists():
            (folder / name).write_text(str(value))
