"""Searches a published copy for strings that must not be in it, and says how much was searched."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from armgate.model.publication import Searched
from armgate.reporting.checksums import files_of
from armgate.reporting.withholding import ABSOLUTE_PATH, WITHHELD

SHORTEST_IN_REPLIES = 4
"""Characters. A shorter name says nothing when a model happens to write it."""
_GZIP = b"\x1f\x8b"

Found = tuple[str, str]
"""(kind, file)."""


def quotes_replies(path: str) -> bool:
    """Whether a file carries a model's own words, among which any path or short word may stand."""
    parts = Path(path).parts
    return "exchanges" in parts or "executions" in parts or path in _DERIVED or path.endswith(_QUOTING)


_DERIVED = frozenset(
    ("comparison.json", "dataset.csv", "dataset.json", "junit.xml", "report.html", "plan.json")
)
_QUOTING = ("verdicts.jsonl", "quality.json", "replies.html")


def scan(
    root: Path, names: Mapping[str, Sequence[str]], secrets: Callable[[bytes], bool], secret_count: int
) -> tuple[list[Searched], list[Found]]:
    """Every file, unpacked where it is packed, for known names by kind, for secrets, and for paths."""
    texts = {path: _unpacked((root / path).read_bytes()) for path in files_of(root)}
    found = [("secret", path) for path, data in texts.items() if secrets(data)]
    searched = [Searched(kind="secret", strings=secret_count, files=len(texts), found=len(found))]
    for kind, words in names.items():
        hits = [(kind, path) for path, data in texts.items() if _holds(path, data, words)]
        searched.append(Searched(kind=kind, strings=len(words), files=len(texts), found=len(hits)))
        found += hits
    own = {path: data for path, data in texts.items() if not quotes_replies(path)}
    hits = [("absolute path", path) for path, data in own.items() if _has_path(data)]
    searched.append(Searched(kind="absolute path", strings=1, files=len(own), found=len(hits)))
    return searched, found + hits


def _unpacked(data: bytes) -> bytes:
    return gzip.decompress(data) if data.startswith(_GZIP) else data


def _holds(path: str, data: bytes, words: Sequence[str]) -> bool:
    shortest = SHORTEST_IN_REPLIES if quotes_replies(path) else 1
    wanted = [re.escape(word.encode()) for word in words if len(word) >= shortest]
    if not wanted:
        return False
    return re.search(rb"(?<![\w-])(?:" + b"|".join(wanted) + rb")(?![\w-])", data, re.I) is not None


def _has_path(data: bytes) -> bool:
    text = data.decode("utf-8", "replace").replace(f"{WITHHELD}/", "")
    return any(match[0] not in _ENDPOINTS for match in ABSOLUTE_PATH.finditer(text))


_ENDPOINTS = frozenset(("/v1/chat/completions", "/v1/completions", "/v1/models"))
