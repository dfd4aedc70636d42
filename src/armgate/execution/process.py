"""The process tier: Landlock, system-call filter and resource limits around an ordinary process."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from armgate.execution.channels import ProcessChannel
from armgate.execution.harness import ENVIRONMENT, PYTHON_FLAGS, Harness
from armgate.execution.identity import is_private, is_root, private_uid
from armgate.execution.interpreters import ZONES, find_interpreter, readable_by_all, readable_by_me
from armgate.execution.sandbox import Sandbox
from armgate.execution.wire import KILL_ALL, LISTEN, WATCH_SCRATCH
from armgate.model.execution import Limits, Tier

DEVICES = tuple(Path(f"/dev/{name}") for name in ("zero", "full", "random", "urandom"))
THREADS = 64


class ProcessTier:
    """Needs nothing but the kernel. As root, each sandbox runs as a user of its own."""

    name = "process"

    def __init__(self, harness: Harness) -> None:
        self._harness = harness
        self._interpreter = find_interpreter(readable_by_all if is_root() else readable_by_me)

    def start(self, limits: Limits) -> Sandbox:
        uid = private_uid() if is_root() else None
        parent = _scratch_parent(limits.scratch_mb << 20)
        scratch = tempfile.mkdtemp(prefix=f"armgate-{os.getpid()}-", dir=parent)
        if uid is not None:
            shutil.chown(scratch, uid, uid)
        readable = [str(path) for path in (*self._interpreter.needs, *ZONES, *DEVICES)]
        own_user = is_private(uid)
        channel = ProcessChannel(
            [str(self._interpreter.path), *PYTHON_FLAGS], ENVIRONMENT, cwd=scratch, uid=uid
        )
        return Sandbox(
            channel,
            self._harness,
            {"scratch": scratch, "uid": None, "readable": readable, "file_rules": "required"},
            flags=LISTEN | WATCH_SCRATCH | (KILL_ALL if own_user else 0),
            processes=THREADS if own_user else 0,
            on_close=lambda: shutil.rmtree(scratch, ignore_errors=True),
        )

    def close(self) -> None:
        """Holds nothing."""

    def describe(self, sandbox: Sandbox) -> Tier:
        own_user = is_private(sandbox.facts["uid"])
        user = "a user of its own" if own_user else f"user {sandbox.facts['uid']}"
        return Tier(
            name=self.name,
            version=f"Landlock ABI {sandbox.facts['landlock']}, Python {sandbox.facts['python']}",
            profile=self._harness.digest,
            isolates=(
                "system calls: allow-list (no network, no new processes, no other process)",
                "files: only the interpreter's are readable, only the scratch folder is writable (Landlock)",
                "CPU time, wall time, address space, output, open files and file size per case",
                f"runs as {user}",
            ),
            does_not=(
                "the host's process list and mounts are the host's own, kept out by Landlock alone",
                "scratch space is watched and ends the case, but no quota stops the write itself",
                "memory is bounded per process by its address space, by no control group",
                *(() if own_user else ("the number of threads is bounded by the address space only",)),
            ),
        )


SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - folders in it are made by mkdtemp


def _scratch_parent(needed_bytes: int) -> Path | None:
    """Memory rather than a disk, where there is room: the CPU time of an answer must not depend on a disk."""
    try:
        free = shutil.disk_usage(SHARED_MEMORY).free
        return SHARED_MEMORY if os.access(SHARED_MEMORY, os.W_OK) and free > 4 * needed_bytes else None
    except OSError:
        return None
