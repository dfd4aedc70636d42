"""What boots of an Armgate that is gone have left on this machine: processes, containers, private folders.

Only what carries a boot's marks is looked at, and only if the Armgate that it names surely runs no more.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psutil

from armgate.engines.labels import BOOT, OWNER, OWNER_FILE, SCRATCH_PREFIX, is_alive, is_folder_in_use
from armgate.engines.launchers.docker_host import orphaned_containers, remove_container

END_S = 5.0


class Orphan(NamedTuple):
    """`name` is a pid, a container's id or a path; `label` and `owner` the boot's marks on it."""

    kind: str
    name: str
    label: str
    owner: str


def find_orphans() -> list[Orphan]:
    """Processes first: what they hold is freed before the folders that they use go."""
    return [*_processes(), *_containers(), *_folders()]


def remove_orphans(orphans: list[Orphan]) -> None:
    """End and remove exactly these; one that went by itself meanwhile is no fault."""
    ended = []
    for orphan in orphans:
        if orphan.kind == "process":
            with contextlib.suppress(psutil.Error):
                process = psutil.Process(int(orphan.name))
                # The id may have gone to another program since, even to one of another boot.
                if _marks_of(process) == (orphan.label, orphan.owner):
                    process.kill()
                    ended.append(process)
    psutil.wait_procs(ended, timeout=END_S)
    for orphan in orphans:
        if orphan.kind == "container":
            remove_container(orphan.name)
        elif orphan.kind == "folder":
            shutil.rmtree(orphan.name, ignore_errors=True)


def _marks_of(process: psutil.Process) -> tuple[str, str]:
    environment = process.environ()
    return environment.get(BOOT, ""), environment.get(OWNER, "")


def _processes() -> Iterator[Orphan]:
    for process in psutil.process_iter():
        try:
            label, owner = _marks_of(process)
        except psutil.Error:
            continue
        if label and owner and not is_alive(owner):
            yield Orphan("process", str(process.pid), label, owner)


def _containers() -> Iterator[Orphan]:
    for identity, label, owner in orphaned_containers():
        if not is_alive(owner):
            yield Orphan("container", identity, label, owner)


def _folders() -> Iterator[Orphan]:
    for folder in Path(tempfile.gettempdir()).glob(f"{SCRATCH_PREFIX}*"):
        try:
            owner = (folder / OWNER_FILE).read_text()
        except OSError:
            continue
        if not is_folder_in_use(owner):
            yield Orphan("folder", str(folder), "", owner)
