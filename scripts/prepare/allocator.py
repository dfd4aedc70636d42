"""tcmalloc, which vLLM's CPU build is faster with; wanted, never required."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from prepare import program
from prepare.machine import Needs
from prepare.places import Places
from prepare.refusal import Refusal
from prepare.step import Step

LIBRARY_FOLDERS = (Path("/usr/lib"), Path("/usr/lib64"), Path("/usr/local/lib"))
PACKAGE = "libtcmalloc-minimal4"


def installed_library(folders: Iterable[Path] = LIBRARY_FOLDERS) -> Path | None:
    """The shared library, directly in one of the folders or in a folder of one architecture below it."""
    patterns = ("libtcmalloc_minimal.so.4*", "*/libtcmalloc_minimal.so.4*")
    found = (path for folder in folders for pattern in patterns for path in sorted(folder.glob(pattern)))
    return next(found, None)


def allocator_step(places: Places) -> Step:
    return Step(
        title="allocator: tcmalloc of the system, for a faster engine",
        usually="10 seconds where it can be installed",
        needs=Needs(places.made),
        is_done=lambda: installed_library() is not None,
        do=lambda: _install(places.logs / "allocator.log"),
    )


def _install(log: Path) -> None:
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        _go_on_without(f"only root can install it: apt-get install {PACKAGE}")
        return
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    try:
        program.run(["apt-get", "update", "-q"], log, "", quiet)
        program.run(["apt-get", "install", "-q", "-y", "--no-install-recommends", PACKAGE], log, "", quiet)
    except Refusal as refusal:
        _go_on_without(f"{refusal.what} (all of it: {log})")


def _go_on_without(why: str) -> None:
    print(f"       going on without tcmalloc, the engine will be slower; {why}", flush=True)
