"""Users for sandboxes: as root each gets one of its own, so that none can touch another's processes."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

NOBODY = 65534
FIRST_PRIVATE, PRIVATE_COUNT = 1 << 30, 1 << 20
"""Far above what systems hand out, so a sandbox's user owns nothing else on the host."""


def is_root() -> bool:
    return os.geteuid() == 0


def private_uid() -> int:
    """A user id of its own, or nobody's where this namespace does not map the private range."""
    try:
        rows = [line.split() for line in Path("/proc/self/uid_map").read_text().splitlines()]
        mapped = any(
            int(first) <= FIRST_PRIVATE and int(first) + int(length) >= FIRST_PRIVATE + PRIVATE_COUNT
            for first, _, length in rows
        )
    except (OSError, ValueError):
        mapped = False
    return FIRST_PRIVATE + secrets.randbelow(PRIVATE_COUNT) if mapped else NOBODY


def is_private(uid: int | None) -> bool:
    return uid is not None and FIRST_PRIVATE <= uid < FIRST_PRIVATE + PRIVATE_COUNT
