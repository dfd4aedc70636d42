"""The lock files agree with each other and with what the scripts say about them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from prepare.axe import URL as AXE_PACKAGE
from prepare.engine import CPU_INDEX, UNWANTED

LOCKS = ["requirements.lock", "requirements-dev.lock", "scripts/engine/requirements.lock"]


def entries(lock: Path) -> dict[str, set[str]]:
    """Name -> versions (more than one where they differ between platforms)."""
    out: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", lock.read_text(), re.M):
        out.setdefault(name, set()).add(version)
    return out


@pytest.mark.parametrize("lock", [*LOCKS, "scripts/engine/torch.lock", "scripts/engine/model.lock"])
def test_every_entry_has_a_hash(root: Path, lock: str) -> None:
    blocks = re.split(r"^(?=[A-Za-z0-9])", (root / lock).read_text(), flags=re.M)
    pinned = [block for block in blocks if "==" in block.partition("\n")[0]]
    assert pinned
    assert [block for block in pinned if "--hash=sha256:" not in block] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_no_lock_names_an_index(root: Path, lock: str) -> None:
    assert "://" not in (root / lock).read_text()


def test_tests_run_with_what_users_get(root: Path) -> None:
    runtime, dev = entries(root / "requirements.lock"), entries(root / "requirements-dev.lock")
    assert {name: dev.get(name) for name in runtime} == runtime


def test_users_get_no_test_tools(root: Path) -> None:
    assert not entries(root / "requirements.lock").keys() & {"pytest", "mypy", "ruff", "hypothesis"}


def test_the_engine_lock_leaves_torch_and_its_companions_out(root: Path) -> None:
    engine = entries(root / "scripts/engine/requirements.lock")
    assert not engine.keys() & {"torch", *UNWANTED}
    asked = entries(root / "scripts/engine/requirements.in")
    assert asked.pop("torch") == entries(root / "scripts/engine/torch.lock")["torch"]
    assert {name: engine[name] for name in asked} == asked


def test_the_scripts_name_no_host_but_those_of_torch_and_axe_core(root: Path) -> None:
    """A name without a dot is none: it stands for the other end of a Unix socket."""
    hosts = {
        url
        for path in (root / "scripts").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
        for url in re.findall(r"https?://[^\s\"'/]+\.[^\s\"')]+", path.read_text())
    }
    assert hosts == {CPU_INDEX, AXE_PACKAGE}
