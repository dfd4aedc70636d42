"""What everything of a boot is marked with, so that a later start can tell what a crash left behind."""

from __future__ import annotations

import os
from functools import cache

import psutil

BOOT = "ARMGATE_BOOT"
OWNER = "ARMGATE_OWNER"
"""Variables of every process of a boot: its label, and the Armgate that started it."""
BOOT_LABEL = "armgate.boot"
OWNER_LABEL = "armgate.owner"
"""The same two as labels of containers."""
SCRATCH_PREFIX = "armgate-"
OWNER_FILE = ".armgate-owner"
"""Names of a boot's private folder and of the file in it that says whose it is."""


@cache
def owner() -> str:
    """This Armgate, told apart from a later process with the same id by when it started."""
    return f"{os.getpid()}:{psutil.Process().create_time():.2f}"


def marks(label: str) -> dict[str, str]:
    return {BOOT: label, OWNER: owner()}


def is_alive(marked_owner: str) -> bool:
    """Whether the Armgate that left this mark still runs. An unreadable mark counts as alive: hands off."""
    pid, _, started = marked_owner.partition(":")
    try:
        return abs(psutil.Process(int(pid)).create_time() - float(started)) < 1.0
    except psutil.NoSuchProcess:
        return False
    except (ValueError, psutil.Error):
        return True
