"""The commands: interruption ends what runs, and the launchers find a supported Python."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from prepare import commands
from prepare.refusal import Refusal

INTERRUPTED = """
import sys
sys.path.insert(0, {scripts!r})
from pathlib import Path
from prepare import commands, program
commands.demo = lambda places, arguments: program.run(["sleep", "300"], Path({log!r}), "")
sys.exit(commands.main(["demo"]))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_the_program_of_a_step(
    root: Path, tmp_path: Path, number: signal.Signals
) -> None:
    code = INTERRUPTED.format(scripts=str(root / "scripts"), log=str(tmp_path / "a.log"))
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True) as process:
        child = first_child(process.pid)
        process.send_signal(number)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "interrupted" in said
    assert not child.is_running()


def first_child(pid: int) -> psutil.Process:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        children = psutil.Process(pid).children()
        if children and children[0].name() == "sleep":
            return children[0]
        time.sleep(0.02)
    raise AssertionError("the step's program never started")


def test_a_refusal_is_words_and_exit_code_4(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(places: object, arguments: list[str]) -> int:
        raise Refusal("no disk", "free some space")

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    monkeypatch.setattr(commands, "demo", refuse)
    try:
        assert commands.main(["demo"]) == 4
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert capsys.readouterr().err == "cannot go on: no disk\n    remedy: free some space\n"


def launcher(root: Path, path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    bash = "/bin/bash"
    env = {"PATH": str(path)}
    return subprocess.run(
        [bash, str(root / "scripts" / "python"), *words], env=env, capture_output=True, text=True, check=False
    )


def fake_python(folder: Path, name: str, code: int) -> None:
    program = folder / name
    program.write_text(f'#!/bin/sh\n[ "$1" = -c ] && exit {code}\necho {name} "$@"\n')
    program.chmod(0o755)


def test_the_launcher_takes_a_supported_python(root: Path, tmp_path: Path) -> None:
    fake_python(tmp_path, "python3", 1)
    fake_python(tmp_path, "python3.12", 0)
    done = launcher(root, tmp_path, "x", "y z")
    assert done.stdout == "python3.12 -B x y z\n"


def test_the_launcher_says_what_is_missing(root: Path, tmp_path: Path) -> None:
    fake_python(tmp_path, "python3", 1)
    done = launcher(root, tmp_path, "x")
    assert done.returncode == 4
    assert "apt-get install" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("script", ["demo", "test", "check", "lock", "python"])
def test_scripts_can_be_started_by_name(root: Path, script: str) -> None:
    assert os.access(root / "scripts" / script, os.X_OK)


FOREGROUND = """
import sys
sys.path.insert(0, {scripts!r})
from pathlib import Path
from prepare import program
slow = "trap 'sleep 0.5; echo cleaned up; exit 7' {name}; echo up; while :; do sleep 0.05; done"
sys.exit(program.foreground(["bash", "-c", slow], Path("/")))
"""


@pytest.mark.parametrize("name", ["INT", "TERM"])
def test_a_program_in_the_foreground_may_clean_up(root: Path, name: str) -> None:
    code = FOREGROUND.format(scripts=str(root / "scripts"), name=name)
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        if name == "INT":
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.terminate()
        rest, _ = process.communicate(timeout=30)
    assert rest == "cleaned up\n"
    assert process.returncode == 7
