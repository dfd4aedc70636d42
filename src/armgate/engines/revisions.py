"""Revisions that an engine says it loaded, against those that the arm pins."""

from __future__ import annotations

from collections.abc import Mapping

from armgate.errors import BootError
from armgate.model.base import Json


def refuse_other_revisions(asked: Mapping[str, str], loaded: Mapping[str, Json]) -> None:
    """BootError `revision_mismatch` where a role was loaded from another commit than is pinned for it.

    What the engine does not tell is no mismatch. A short commit id agrees with the long one it begins.
    """
    for role, wanted in asked.items():
        seen = loaded.get(role)
        if isinstance(seen, str) and not (wanted.startswith(seen) or seen.startswith(wanted)):
            raise BootError("revision_mismatch", f"{role} was loaded at {seen}, and {wanted} is pinned")
