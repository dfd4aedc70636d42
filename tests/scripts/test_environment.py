"""Environments: only a finished and unchanged one counts as whole."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from prepare import program
from prepare.environment import STAMP, Environment


def site_packages(environment: Environment) -> Path:
    return next((environment.folder / "lib").glob("python3.*/site-packages"))


def make(environment: Environment, fill: Callable[[Environment], None]) -> None:
    """`environment.make` without waiting for pip, which these tests do not need."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(program, "run", without_pip)
        environment.make(fill)


def without_pip(argv: Sequence[str | Path], log: Path, remedy: str) -> None:
    assert list(argv[:3]) == [sys.executable, "-m", "venv"]
    subprocess.run([*argv, "--without-pip"], check=True)


def add_package(environment: Environment) -> None:
    info = site_packages(environment) / "example-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: example\nVersion: 1.0\n")


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    lock = tmp_path / "some.lock"
    lock.write_text("example==1.0\n")
    return Environment(tmp_path / "made", (lock,), tmp_path / "logs" / "made.log")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished environment with its lock file; tests copy what they change."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "some.lock").write_text("example==1.0\n")
    make(whole(folder), add_package)
    return folder


def whole(folder: Path) -> Environment:
    return Environment(folder / "made", (folder / "some.lock",), folder / "made.log")


def test_a_finished_one_is_whole(finished: Path) -> None:
    assert whole(finished).is_whole()
    assert "example==1.0" in (whole(finished).packages() or [])


def test_another_lock_makes_it_stale(finished: Path) -> None:
    other = finished / "other.lock"
    other.write_text("example==1.1\n")
    assert not Environment(finished / "made", (other,), finished / "made.log").is_whole()


def test_a_missing_package_makes_it_stale(finished: Path) -> None:
    environment = whole(finished)
    info = site_packages(environment) / "example-1.0.dist-info"
    away = finished / "away"
    info.rename(away)
    try:
        assert not environment.is_whole()
    finally:
        away.rename(info)


def test_an_interpreter_that_does_not_run_makes_it_stale(finished: Path) -> None:
    environment = whole(finished)
    away = environment.python.rename(environment.folder / "away")
    try:
        assert environment.packages() is None
        assert not environment.is_whole()
    finally:
        away.rename(environment.python)


def test_a_moved_one_is_stale(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path / "moved", symlinks=True)
    assert not whole(tmp_path / "moved").is_whole()


def test_a_torn_stamp_is_no_stamp(environment: Environment) -> None:
    environment.folder.mkdir()
    (environment.folder / STAMP).write_text('{"key": "')
    assert not environment.is_whole()


def test_an_interrupted_one_is_not_whole_and_is_made_from_nothing(environment: Environment) -> None:
    def interrupted(made: Environment) -> None:
        (made.folder / "half").write_text("")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(environment, interrupted)
    assert (environment.folder / "half").exists()
    assert not environment.is_whole()

    make(environment, lambda made: None)
    assert environment.is_whole()
    assert not (environment.folder / "half").exists()


def test_remaking_starts_without_a_stamp(environment: Environment) -> None:
    seen: list[bool] = []
    make(environment, lambda made: None)
    make(environment, lambda made: seen.append(made.is_whole()))
    assert seen == [False]
    assert environment.is_whole()
