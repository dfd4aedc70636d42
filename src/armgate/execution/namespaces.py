"""The namespaces tier: bubblewrap with everything unshared, system-call filter, limits, control groups."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from armgate.errors import SandboxUnavailable
from armgate.execution.channels import ProcessChannel
from armgate.execution.control_groups import ControlGroup
from armgate.execution.harness import ENVIRONMENT, PYTHON_FLAGS, Harness
from armgate.execution.identity import NOBODY, is_root, private_uid
from armgate.execution.interpreters import ZONES, Interpreter, find_interpreter, readable_by_me
from armgate.execution.sandbox import Sandbox
from armgate.execution.wire import KILL_ALL, LISTEN
from armgate.model.execution import Limits, Tier

SCRATCH = "/scratch"
THREADS = 64
OVERHEAD_MB = 128
"""Memory of the harness beside what a case may use."""

DENIED = (
    "Where user namespaces are denied (kernel.apparmor_restrict_unprivileged_userns, "
    "kernel.unprivileged_userns_clone), allow them for bwrap or use another tier"
)

NO_GROUP = "memory is bounded per process by its address space, by no control group"


class NamespacesTier:
    """As root, bubblewrap mounts with root's rights and the harness then becomes a user of its own; an
    ordinary user gets a user namespace, in which nothing maps to another user."""

    name = "namespaces"

    def __init__(self, harness: Harness) -> None:
        self._harness = harness
        program = shutil.which("bwrap")
        if program is None:
            raise SandboxUnavailable("bubblewrap is not installed (Debian: apt-get install bubblewrap)")
        self._program = program
        answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
        self._version = answer.stdout.strip() or "unknown version"
        self._interpreter = find_interpreter(readable_by_me)

    def start(self, limits: Limits) -> Sandbox:
        uid = private_uid() if is_root() else None
        group = ControlGroup.create(limits.memory_mb + limits.scratch_mb + OVERHEAD_MB, THREADS * 2)
        argv = [self._program, *self._arguments(limits), "--", str(self._interpreter.path), *PYTHON_FLAGS]
        channel = ProcessChannel(group.entering(argv) if group else argv, {"PATH": "/usr/bin:/bin"})
        try:
            return Sandbox(
                channel,
                self._harness,
                {"scratch": SCRATCH, "uid": uid, "readable": None, "file_rules": "wanted"},
                flags=LISTEN | KILL_ALL,
                processes=THREADS if is_root() or _processes_count_per_namespace() else 0,
                on_close=group.remove if group else None,
                oom_kills=group.oom_kills if group else None,
            )
        except SandboxUnavailable as error:
            raise SandboxUnavailable(f"{error}. {DENIED}") from None

    def _arguments(self, limits: Limits) -> list[str]:
        who = ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        if not is_root():
            who = ["--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY)]
        spaces = ("ipc", "pid", "net", "uts", "cgroup-try")
        arguments = [f"--unshare-{space}" for space in spaces]
        # No session of its own: it is in the one that its channel made, and ends with that.
        arguments += ["--as-pid-1", "--cap-drop", "ALL", *who, "--clearenv"]
        for name, value in ENVIRONMENT.items():
            arguments += ["--setenv", name, value]
        arguments += [*_view(self._interpreter), "--proc", "/proc"]
        arguments += ["--perms", "1777", "--size", str(limits.scratch_mb << 20), "--tmpfs", SCRATCH]
        return [*arguments, "--remount-ro", "/", "--chdir", SCRATCH]

    def close(self) -> None:
        """Holds nothing."""

    def describe(self, sandbox: Sandbox) -> Tier:
        grouped = ControlGroup.available()
        return Tier(
            name=self.name,
            version=f"{self._version}, Python {sandbox.facts['python']}",
            profile=self._harness.digest,
            isolates=(
                "system calls: allow-list (no network, no new processes, no other process)",
                "files: a view of its own with the interpreter, read-only; scratch on tmpfs with a quota",
                "processes, network, IPC, host name: namespaces of its own",
                "user: " + ("one of its own" if is_root() else "a user namespace, no capabilities"),
                "CPU time, wall time, address space, output, open files and file size per case",
                *(("memory and process count: control group",) if grouped else ()),
            ),
            does_not=(
                "shares the host's kernel",
                *(() if grouped else (NO_GROUP,)),
            ),
        )


DEVICES = tuple(Path(f"/dev/{name}") for name in ("null", "zero", "full", "random", "urandom"))


def _processes_count_per_namespace() -> bool:
    """Since Linux 5.14; before, the limit would count all processes of this user on the host."""
    numbers = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return numbers is not None and (int(numbers[1]), int(numbers[2])) >= (5, 14)


def _view(interpreter: Interpreter) -> list[str]:
    """Mounts that show what the interpreter needs, where it expects it, and nothing else."""
    shown = (*interpreter.needs, *ZONES, *DEVICES)
    # Bubblewrap would make these for its own user only.
    folders = sorted({parent for path in shown for parent in path.parents} - {Path("/")})
    arguments = [word for folder in folders for word in ("--perms", "0755", "--dir", str(folder))]
    for path in shown:
        if path.is_symlink() and path.parent == Path("/"):
            arguments += ["--symlink", str(path.readlink()), str(path)]
        else:
            how = "--dev-bind" if path in DEVICES else "--ro-bind-try"
            arguments += [how, str(path), str(path)]
    return arguments
