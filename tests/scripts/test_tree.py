"""The tree digest: its exact lines, and that it is the one that the pin check computes."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from armgate.engines import digests
from prepare.tree import file_digests, tree_digest


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "Z.json").write_bytes(b"{}")
    (tmp_path / "a.txt").write_bytes(b"alpha")
    (tmp_path / "sub" / ".hidden").write_bytes(b"")
    (tmp_path / "été").write_bytes(b"summer")
    return tmp_path


def test_it_is_the_sha256_of_sorted_lines(tree: Path) -> None:
    lines = b"".join(
        hashlib.sha256(data).hexdigest().encode() + b"  " + name + b"\n"
        for name, data in [
            (b"Z.json", b"{}"),
            (b"a.txt", b"alpha"),
            (b"sub/.hidden", b""),
            ("été".encode(), b"summer"),
        ]
    )
    assert tree_digest(tree) == "sha256:" + hashlib.sha256(lines).hexdigest()


def test_it_agrees_with_the_pin_check(tree: Path) -> None:
    assert tree_digest(tree) == digests.tree_digest(tree)


def test_times_and_modes_do_not_matter(tree: Path) -> None:
    before = tree_digest(tree)
    os.utime(tree / "a.txt", (0, 0))
    (tree / "a.txt").chmod(0o600)
    assert tree_digest(tree) == before


@pytest.mark.parametrize("change", ["content", "name", "extra"])
def test_any_change_of_content_shows(tree: Path, change: str) -> None:
    before = tree_digest(tree)
    if change == "content":
        (tree / "a.txt").write_bytes(b"Alpha")
    elif change == "name":
        (tree / "a.txt").rename(tree / "b.txt")
    else:
        (tree / "sub" / "extra").write_bytes(b"")
    assert tree_digest(tree) != before


def test_file_digests_name_every_file(tree: Path) -> None:
    assert sorted(file_digests(tree)) == ["Z.json", "a.txt", "sub/.hidden", "été"]
