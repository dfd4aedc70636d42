"""What everything of a boot is marked with, so that a later start can tell what a crash left behind."""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path
from typing import NamedTuple

BOOT = "ARMGATE_BOOT"
OWNER = "ARMGATE_OWNER"
"""Variables of every process of a boot: its label, and the Armgate that started it."""
BOOT_LABEL = "armgate.boot"
OWNER_LABEL = "armgate.owner"
"""The same two as labels of containers."""
SCRATCH_PREFIX = "armgate-"
OWNER_FILE = ".armgate-owner"
"""Names of a boot's private folder and of the file in it that says whose it is."""

PROC = Path("/proc")
ENDED = frozenset("ZX")
"""States in which a process runs no more and only its parent has not asked for its exit code."""


class Owner(NamedTuple):
    """An Armgate, told apart from any other that may see what it left.

    `pid` means something only to one `kernel` (its boot_id) and `namespace` (of pids). `start_ticks` since
    that kernel's start tell a later process with the same id; a wall clock would move when it is set.
    """

    pid: str
    start_ticks: str
    kernel: str
    namespace: str


@cache
def owner() -> str:
    """This Armgate's mark."""
    pid = os.getpid()
    return "/".join(Owner(str(pid), _start_ticks(pid) or "", _kernel(), _namespace()))


def marks(label: str) -> dict[str, str]:
    return {BOOT: label, OWNER: owner()}


def folder_mark() -> str:
    """A folder stays when its machine is started anew, so its mark names the machine as well."""
    return f"{owner()}\n{platform.node()}"


def is_alive(mark: str) -> bool:
    """Whether the Armgate that left this mark may still run.

    Nobody here can tell for a mark that is unreadable, or of another kernel or pid namespace (another host
    or a container on the same Docker engine, say): these count as alive, hands off.
    """
    found = _read(mark)
    if found is None or (found.kernel, found.namespace) != (_kernel(), _namespace()):
        return True
    pid = int(found.pid)
    started = _start_ticks(pid)
    return _exists(pid) if started is None else started == found.start_ticks


def is_folder_in_use(mark: str) -> bool:
    """`is_alive` for a folder's mark: this machine's folder from before its latest start is nobody's."""
    mark, _, machine = mark.partition("\n")
    found = _read(mark)
    if found and _kernel() and found.kernel != _kernel() and machine == platform.node():
        return False
    return is_alive(mark)


def _read(mark: str) -> Owner | None:
    fields = mark.split("/")
    if len(fields) != len(Owner._fields) or not all(fields) or not fields[0].isdecimal():
        return None
    return Owner(*fields)


def _start_ticks(pid: int) -> str | None:
    """Field 22 of proc_pid_stat(5); `None` where the process is not to be seen, empty once it has ended."""
    try:
        fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return "" if fields[0] in ENDED else fields[19]


def _exists(pid: int) -> bool:
    """Asked of the kernel: /proc may hide the processes of other users (`hidepid`)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _kernel() -> str:
    """The boot_id, random at every start of a kernel; empty where it cannot be read."""
    try:
        return (PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _namespace() -> str:
    """Such as `pid:[4026531836]`; empty where it cannot be read."""
    try:
        return str((PROC / "self/ns/pid").readlink())
    except OSError:
        return ""
