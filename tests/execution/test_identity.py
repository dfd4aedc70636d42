"""Users of sandboxes, and the Python that they may read."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from armgate.errors import SandboxUnavailable
from armgate.execution import identity
from armgate.execution.identity import NOBODY, is_private, private_uid
from armgate.execution.interpreters import find_interpreter, readable_by_all


def test_private_users_differ_and_are_far_from_others() -> None:
    users = {private_uid() for _ in range(20)}
    assert len(users) > 1
    assert all(is_private(user) for user in users)
    assert not is_private(0)
    assert not is_private(1000)
    assert not is_private(NOBODY)
    assert not is_private(None)


def test_where_the_range_is_not_mapped_it_is_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity.Path, "read_text", lambda _: "         0     100000      65536\n")
    assert private_uid() == NOBODY


def test_readable_by_all_looks_at_every_folder_above(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    file = tmp_path / "closed" / "file"
    file.parent.mkdir(mode=0o755)
    file.write_text("x")
    file.chmod(0o644)
    reachable = all(parent.stat().st_mode & 0o001 for parent in tmp_path.parents)
    assert readable_by_all(file) == reachable
    assert readable_by_all(Path("/usr/bin"))
    file.parent.chmod(0o750)
    assert not readable_by_all(file)
    assert not readable_by_all(tmp_path / "absent")


def test_the_interpreter_is_this_one_where_it_may_be_read() -> None:
    found = find_interpreter(lambda _: True)
    assert found.version == ".".join(map(str, sys.version_info[:3]))
    assert all((folder / "json" / "__init__.py").exists() for folder in found.library[:1])


def test_an_interpreter_that_may_not_be_read_is_named() -> None:
    with pytest.raises(SandboxUnavailable, match="the sandbox's user may not read"):
        find_interpreter(lambda _: False)
