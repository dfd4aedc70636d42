"""Pins: what is on disk is what was asked for, or the difference is told."""

import hashlib
from pathlib import Path

import pytest

from armgate.engines.pins import check_directory, check_file, check_hub, package_versions, tree_digest
from armgate.model.pins import DirectoryPin, FilePin, HfPin, PinState


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model" / "sub").mkdir(parents=True)
    (tmp_path / "model" / "b.txt").write_bytes(b"two")
    (tmp_path / "model" / "sub" / "a.txt").write_bytes(b"one")
    return tmp_path / "model"


def test_tree_digest_is_the_documented_formula(folder: Path) -> None:
    lines = [
        f"{hashlib.sha256(b'two').hexdigest()}  b.txt\n",
        f"{hashlib.sha256(b'one').hexdigest()}  sub/a.txt\n",
    ]
    assert tree_digest(folder) == "sha256:" + hashlib.sha256("".join(lines).encode()).hexdigest()


def test_one_changed_byte_or_one_more_file_differs(folder: Path) -> None:
    pin = DirectoryPin(dir="model", tree=tree_digest(folder))
    assert check_directory("target", "m", pin, folder.parent).state is PinState.MATCHES
    (folder / "b.txt").write_bytes(b"twp")
    assert check_directory("target", "m", pin, folder.parent).state is PinState.DIFFERS
    (folder / "b.txt").write_bytes(b"two")
    (folder / "extra").touch()
    assert check_directory("target", "m", pin, folder.parent).state is PinState.DIFFERS


def test_a_missing_folder_differs(tmp_path: Path) -> None:
    pin = DirectoryPin(dir="none", tree="sha256:" + "0" * 64)
    seen = check_directory("target", "m", pin, tmp_path)
    assert (seen.state, seen.observed) == (PinState.DIFFERS, None)


def test_a_file_without_a_stated_digest_is_recorded(folder: Path) -> None:
    seen = check_file("chat_template", "t", FilePin(file="model/b.txt"), folder.parent)
    assert seen.observed == {"sha256": hashlib.sha256(b"two").hexdigest()}
    assert seen.state is PinState.MATCHES
    wrong = FilePin(file="model/b.txt", sha256="0" * 64)
    assert check_file("chat_template", "t", wrong, folder.parent).state is PinState.DIFFERS


def test_a_hub_pin_is_verified_only_by_its_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    pin = HfPin(hf="org/model", revision="a" * 40)
    assert check_hub("target", "m", pin).state is PinState.UNVERIFIED
    (tmp_path / "models--org--model" / "snapshots" / ("a" * 40)).mkdir(parents=True)
    assert check_hub("target", "m", pin).state is PinState.MATCHES


@pytest.mark.anyio
async def test_package_versions_are_asked_of_the_environment_itself() -> None:
    import sys

    import pydantic

    versions = await package_versions(Path(sys.executable), ["pydantic", "no-such-package"])
    assert versions == {"pydantic": pydantic.VERSION, "no-such-package": None}
