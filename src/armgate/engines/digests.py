"""Digests of files and folders, with a cache: a file whose inode, size and times stand is not read again."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

SHA256 = "sha256"
GIT_BLOB = "git_blob"
"""SHA-1 over `blob <size>\\0` and the content: how Git, and the hub for small files, names a file."""

SETTLED_NS = 2 * 10**9
"""A file changed more lately may change again within one tick of its clock, unseen: it is not remembered."""

_TABLE = """create table if not exists digests (
    device integer, inode integer, size integer, modified_ns integer, changed_ns integer, kind text,
    digest text, primary key (device, inode, kind))"""


def cache_file() -> Path:
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "armgate" / "digests.sqlite"


def file_digest(path: Path, kind: str = SHA256) -> str:
    """Hex digest of a file, out of the cache where the file is the same one, unchanged.

    The change time is part of the key: restoring a modification time does not bring an old digest back.
    """
    stat = path.stat()
    key = (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, kind)
    with _cache() as cache:
        if cache is not None:
            found = cache.execute(
                "select digest from digests where device=? and inode=? and size=? and modified_ns=?"
                " and changed_ns=? and kind=?",
                key,
            ).fetchone()
            if found is not None:
                return str(found[0])
        digest = _computed(path, kind, stat.st_size)
        if cache is not None and time.time_ns() - stat.st_ctime_ns > SETTLED_NS:
            cache.execute("insert or replace into digests values (?, ?, ?, ?, ?, ?, ?)", (*key, digest))
        return digest


def tree_digest(folder: Path) -> str:
    """`sha256:` over lines `<sha256 hex>  <relative path>\\n` sorted by the path's bytes, every file one."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    lines = {path.relative_to(folder).as_posix().encode(): file_digest(path) for path in files}
    text = b"".join(digest.encode() + b"  " + name + b"\n" for name, digest in sorted(lines.items()))
    return "sha256:" + hashlib.sha256(text).hexdigest()


def _computed(path: Path, kind: str, size: int) -> str:
    if kind == SHA256:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    blob = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    with path.open("rb") as stream:
        while data := stream.read(2**20):
            blob.update(data)
    return blob.hexdigest()


@contextlib.contextmanager
def _cache() -> Iterator[sqlite3.Connection | None]:
    """The cache, or `None` where it cannot be used: a read-only home costs time and no boot."""
    path = cache_file()
    connection = None
    with contextlib.suppress(OSError, sqlite3.Error):
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=10.0, isolation_level=None)
        connection.execute(_TABLE)
    try:
        yield connection
    finally:
        if connection is not None:
            connection.close()
