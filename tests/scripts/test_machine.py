"""Refusals: said before anything starts, with a remedy."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from prepare import machine, program
from prepare.machine import GB, Needs
from prepare.refusal import Refusal
from prepare.step import Step, carry_out


def refused(*words: str) -> pytest.RaisesExc[Refusal]:
    return pytest.RaisesExc(Refusal, check=lambda e: all(word in str(e) for word in (*words, "remedy: ")))


def test_only_linux() -> None:
    machine.refuse_system("Linux")
    with refused("Darwin"):
        machine.refuse_system("Darwin")


@pytest.mark.parametrize(
    ("name", "flags"), [("x86_64", {"avx2", "sse"}), ("aarch64", set())], ids=["avx2", "arm"]
)
def test_processors_of_the_engine(name: str, flags: set[str]) -> None:
    machine.refuse_processor(name, frozenset(flags))


@pytest.mark.parametrize(("name", "word"), [("riscv64", "riscv64"), ("x86_64", "AVX2")])
def test_other_processors_are_refused(name: str, word: str) -> None:
    with refused(word):
        machine.refuse_processor(name, frozenset({"sse"}))


def test_a_python_without_ensurepip_is_told_the_package() -> None:
    machine.refuse_missing_venv(True)
    with refused("apt-get install python3-venv"):
        machine.refuse_missing_venv(False)


def test_too_little_disk_says_both_figures(tmp_path: Path) -> None:
    machine.refuse_full_disk(tmp_path, 6 * GB, 6 * GB)
    with refused("5.9 GB", "6.0 GB"):
        machine.refuse_full_disk(tmp_path, 6 * GB - 100_000_000, 6 * GB)


def test_too_little_memory() -> None:
    machine.refuse_little_memory(5 * GB, 5 * GB)
    with refused("memory"):
        machine.refuse_little_memory(GB, 5 * GB)


def test_free_bytes_of_a_folder_that_is_yet_to_be_made(tmp_path: Path) -> None:
    assert machine.free_bytes(tmp_path / "not" / "yet") > 0
    assert machine.available_memory() > 0


def test_disk_of_all_steps_is_added_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "free_bytes", lambda folder: 5 * GB)
    machine.refuse_what_cannot_work([Needs(tmp_path, disk=5 * GB)])
    with refused("6.0 GB"):
        machine.refuse_what_cannot_work([Needs(tmp_path, disk=5 * GB), Needs(tmp_path, disk=GB)])


def test_an_index_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = tmp_path / "some.lock"
    lock.write_text("armgate-no-such-package==0.0.1 \\\n    --hash=sha256:00\n")
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with refused("armgate-no-such-package 0.0.1", "check the network"):
        machine.refuse_silent_index(lock)


@pytest.mark.parametrize(
    "lock", ["requirements.lock", "requirements-dev.lock", "scripts/engine/requirements.lock"]
)
def test_each_lock_has_a_small_package_to_ask_for(root: Path, lock: str) -> None:
    name, version = machine.small_entry(root / lock)
    assert name in machine.SMALL_PACKAGES
    assert version


def test_a_lock_without_entries_is_refused(tmp_path: Path) -> None:
    (tmp_path / "some.lock").write_text("")
    with refused("no pinned package"):
        machine.small_entry(tmp_path / "some.lock")


def step(name: str, done: bool, log: list[str], needs: Needs) -> Step:
    return Step(name, "no time", needs, is_done=lambda: done, do=lambda: log.append(name))


def test_steps_that_are_done_are_skipped(tmp_path: Path) -> None:
    done: list[str] = []
    said: list[str] = []
    needs = Needs(tmp_path)
    carry_out([step("one", True, done, needs), step("two", False, done, needs)], said.append)
    assert done == ["two"]
    assert said[0] == "[there, verified] one"
    assert "usually no time" in said[1]


def test_what_cannot_work_is_refused_before_any_step_starts(tmp_path: Path) -> None:
    done: list[str] = []
    fine, impossible = Needs(tmp_path), Needs(tmp_path, disk=10**18)
    with refused("GB free"):
        carry_out([step("one", False, done, fine), step("two", False, done, impossible)], lambda line: None)
    assert done == []


def test_a_done_step_needs_nothing(tmp_path: Path) -> None:
    carry_out([step("one", True, [], Needs(tmp_path, disk=10**18))], lambda line: None)


def test_a_program_that_fails_is_quoted(tmp_path: Path) -> None:
    with refused("code 3", "| the reason", "do this"):
        program.run(["sh", "-c", "echo the reason >&2; exit 3"], tmp_path / "logs" / "a.log", "do this")
    assert "the reason" in (tmp_path / "logs" / "a.log").read_text()
