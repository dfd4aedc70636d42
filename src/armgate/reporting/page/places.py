"""Where things are on the page and beside it: ids of anchors, links to files. Names are safe file names."""

from __future__ import annotations

from urllib.parse import quote


def verdict_id(arm: str, boot: int, gate: str) -> str:
    return f"v.{arm}.{boot:02d}.{gate}"


def boot_id(arm: str, boot: int) -> str:
    return f"boot.{arm}.{boot:02d}"


def file_link(arm: str, boot: int, path: str) -> str:
    """A file of a boot, relative to the page at the root of the run."""
    return quote(f"arms/{arm}/boots/{boot:02d}/{path}")


def replies_file(arm: str, boot: int) -> str:
    return f"arms/{arm}/boots/{boot:02d}/replies.html"


def reply_id(gate: str, sample: str) -> str:
    return f"r.{gate}.{sample}"
