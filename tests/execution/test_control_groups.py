"""Control groups of both versions, on a folder that stands for /sys/fs/cgroup and on the real one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from armgate.execution.control_groups import ROOT, ControlGroup


def version_2(root: Path, enabled: str = "cpu memory pids") -> Path:
    (root / "cgroup.subtree_control").write_text(enabled)
    return root


def version_1(root: Path) -> Path:
    for name in ("memory", "pids"):
        (root / name).mkdir()
        (root / name / "cgroup.procs").write_text("")
    return root


def test_version_2_has_one_folder(tmp_path: Path) -> None:
    group = ControlGroup.create(100, 64, version_2(tmp_path))
    assert group is not None
    assert [folder.parent for folder in group.folders] == [tmp_path]


def test_version_1_has_a_folder_in_each_hierarchy(tmp_path: Path) -> None:
    group = ControlGroup.create(100, 64, version_1(tmp_path))
    assert group is not None
    assert [folder.parent.name for folder in group.folders] == ["memory", "pids"]
    argv = group.entering(["program", "argument"])
    assert argv[-3:] == ["--", "program", "argument"]
    assert [door.endswith("/cgroup.procs") for door in argv[4:6]] == [True, True]


def test_without_the_controllers_there_are_none(tmp_path: Path) -> None:
    assert not ControlGroup.available(tmp_path)
    assert ControlGroup.create(100, 64, tmp_path) is None
    assert not ControlGroup.available(version_2(tmp_path, "cpu"))


@pytest.mark.parametrize(
    ("name", "text"),
    [("memory.events", "oom 1\noom_kill 3\n"), ("memory.oom_control", "under_oom 0\noom_kill 3\n")],
)
def test_kills_are_read_in_both_forms(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert ControlGroup((tmp_path,)).oom_kills() == 3


def test_no_kills_are_read_where_nothing_tells(tmp_path: Path) -> None:
    (tmp_path / "memory.events").write_text("nonsense")
    assert ControlGroup((tmp_path,)).oom_kills() == 0


def test_a_process_that_enters_is_inside_and_the_group_goes_away() -> None:
    if not ControlGroup.available():
        pytest.skip(f"no control groups can be made under {ROOT} here")
    group = ControlGroup.create(100, 64)
    assert group is not None
    own = [folder.name for folder in group.folders]
    inside = subprocess.run(
        group.entering(["/bin/cat", "/proc/self/cgroup"]), capture_output=True, text=True, check=True
    ).stdout
    limits = [folder / "memory.max" for folder in group.folders]
    limits += [folder / "memory.limit_in_bytes" for folder in group.folders]
    assert [int(path.read_text()) for path in limits if path.exists()] == [100 << 20]
    group.remove()
    assert all(name in inside for name in own)
    assert not any(folder.exists() for folder in group.folders)
    assert own[0] not in Path("/proc/self/cgroup").read_text()
