"""Pins: what is on disk is what was asked for, or the difference is told."""

import asyncio
import hashlib
import os
from pathlib import Path

import psutil
import pytest

from armgate.engines import pins
from armgate.engines.digests import tree_digest
from armgate.engines.hub import cache_folder
from armgate.engines.pins import check_directory, check_file, check_hub, package_versions
from armgate.errors import BootError
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


COMMIT = HfPin(hf="org/model", revision="a" * 40)


def hub_cache(cache: Path, files: dict[str, bytes]) -> Path:
    """A hub cache with one snapshot, laid out as the hub's library does."""
    repository = cache / "models--org--model"
    snapshot = repository / "snapshots" / COMMIT.revision
    (repository / "blobs").mkdir(parents=True)
    snapshot.mkdir(parents=True)
    for number, (name, content) in enumerate(files.items()):
        etag = hashlib.sha256(content).hexdigest()
        if number == 0:
            etag = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        (repository / "blobs" / etag).write_bytes(content)
        (snapshot / name).symlink_to(repository / "blobs" / etag)
    return snapshot


def test_a_revision_that_is_not_there_is_told_before_the_start(tmp_path: Path) -> None:
    with pytest.raises(BootError, match="hf download org/model") as caught:
        check_hub("target", "m", COMMIT, tmp_path)
    assert caught.value.cause == "revision_missing"


def test_a_snapshot_is_held_against_the_digests_that_it_is_stored_under(tmp_path: Path) -> None:
    snapshot = hub_cache(tmp_path, {"config.json": b"{}", "model.safetensors": b"weights"})
    seen = check_hub("target", "m", COMMIT, tmp_path)
    assert (seen.state, seen.observed) == (
        PinState.MATCHES,
        {"revision": COMMIT.revision, "files": 2, "compared": 2},
    )
    (snapshot / "model.safetensors").resolve().write_bytes(b"WEIGHTS")
    seen = check_hub("target", "m", COMMIT, tmp_path)
    assert seen.state is PinState.DIFFERS
    assert seen.observed is not None
    assert seen.observed["wrong"] == ["model.safetensors"]


def test_files_that_have_no_digest_to_hold_leave_the_pin_unverified(tmp_path: Path) -> None:
    snapshot = hub_cache(tmp_path, {"config.json": b"{}"})
    (snapshot / "added.py").write_text("pass")
    assert check_hub("target", "m", COMMIT, tmp_path).state is PinState.UNVERIFIED


def test_a_hub_cache_is_looked_for_where_the_server_will(tmp_path: Path) -> None:
    assert cache_folder({"HF_HOME": str(tmp_path)}) == tmp_path / "hub"
    assert cache_folder({"HF_HOME": "/x", "HF_HUB_CACHE": str(tmp_path)}) == tmp_path


@pytest.mark.anyio
async def test_package_versions_are_asked_of_the_environment_itself() -> None:
    import sys

    import pydantic

    versions = await package_versions(Path(sys.executable), ["pydantic", "no-such-package"], os.environ)
    assert versions == {"pydantic": pydantic.VERSION, "no-such-package": None}


@pytest.fixture
def never_telling(tmp_path: Path) -> Path:
    """An interpreter that starts a program which holds its output, writes that one's id and waits."""
    script = tmp_path / "python"
    lines = ("#!/bin/sh", "cd ${0%/*}", "sleep 300 &", 'echo "$! $MARK" > new', "mv new told", "wait", "")
    script.write_text("\n".join(lines))
    script.chmod(0o755)
    return script


async def told(script: Path) -> list[str]:
    async with asyncio.timeout(20):
        while not (file := script.with_name("told")).exists():
            await asyncio.sleep(0.02)
    return file.read_text().split()


async def has_ended(pid: int) -> bool:
    async with asyncio.timeout(20):
        while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
            await asyncio.sleep(0.02)
    return True


@pytest.mark.anyio
async def test_an_interpreter_that_tells_nothing_is_given_up_and_ended(
    never_telling: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pins, "DEADLINE_S", 1.0)
    with pytest.raises(BootError, match="tells no versions within 1 s") as caught:
        await package_versions(never_telling, ["pydantic"], {**os.environ, "MARK": "marked"})
    assert caught.value.cause == "engine_missing"
    pid, mark = await told(never_telling)
    assert mark == "marked"
    assert await has_ended(int(pid))


@pytest.mark.anyio
async def test_a_cancelled_question_leaves_no_program(never_telling: Path) -> None:
    asking = asyncio.create_task(package_versions(never_telling, ["pydantic"], os.environ))
    pid, *_ = await told(never_telling)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert await has_ended(int(pid))


@pytest.mark.anyio
async def test_what_is_no_list_of_versions_is_told_as_the_engine_s_fault(tmp_path: Path) -> None:
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\necho api_key=sk-abcdefghijkl\n")
    script.chmod(0o755)
    with pytest.raises(BootError, match=r"printed b'api_key=\*") as caught:
        await package_versions(script, ["pydantic"], os.environ)
    assert caught.value.cause == "engine_missing"
