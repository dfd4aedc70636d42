"""Digests and their cache: an unchanged file is not read again, a changed one always is."""

import hashlib
import os
from pathlib import Path

import pytest

from armgate.engines import digests
from armgate.engines.digests import GIT_BLOB, file_digest


@pytest.fixture
def old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that has been left alone long enough to be remembered."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(digests, "SETTLED_NS", -1)
    path = tmp_path / "weights"
    path.write_bytes(b"weights")
    return path


def count_reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    read: list[Path] = []
    computed = digests._computed
    monkeypatch.setattr(
        digests, "_computed", lambda path, kind, size: (read.append(path), computed(path, kind, size))[1]
    )
    return read


def test_an_unchanged_file_is_read_once(old_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = count_reads(monkeypatch)
    assert {file_digest(old_file) for _ in range(3)} == {hashlib.sha256(b"weights").hexdigest()}
    assert len(read) == 1


def test_a_restored_modification_time_brings_no_old_digest_back(old_file: Path) -> None:
    file_digest(old_file)
    before = old_file.stat()
    old_file.write_bytes(b"WEIGHTS")
    os.utime(old_file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file_digest(old_file) == hashlib.sha256(b"WEIGHTS").hexdigest()


def test_a_file_that_changed_a_moment_ago_is_not_remembered(
    old_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "SETTLED_NS", 10**18)
    read = count_reads(monkeypatch)
    file_digest(old_file)
    file_digest(old_file)
    assert len(read) == 2


def test_a_git_blob_id_is_what_git_computes(old_file: Path) -> None:
    empty = old_file.with_name("empty")
    empty.touch()
    assert file_digest(empty, GIT_BLOB) == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


def test_without_a_cache_the_file_is_read(old_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/none")
    assert file_digest(old_file) == hashlib.sha256(b"weights").hexdigest()
