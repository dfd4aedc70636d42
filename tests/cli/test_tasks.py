"""`armgate tasks` and `armgate sandbox` as a user and a script see them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from armgate.cli import sandbox as sandbox_command
from armgate.cli import tasks as tasks_command
from armgate.cli.app import main
from armgate.errors import SandboxUnavailable
from armgate.execution.harness import load_harness, sandbox_folder
from armgate.execution.tiers import TIERS, try_tier

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "gates" / "tasks" / "largest" / "solutions"
TASK = """\
schema: armgate/task/v1
id: shout
kind: function
entry: shout
prompt: prompt.jinja
cases:
  - {args: [a], expect: A}
"""


@pytest.fixture
def process_tier(unavailable: Callable[[str, str], NoReturn]) -> None:
    attempt = try_tier("process", load_harness(sandbox_folder()))
    if attempt.refusal is not None:
        unavailable("sandbox", attempt.refusal)


@pytest.fixture
def shout(tmp_path: Path) -> Path:
    folder = tmp_path / "shout"
    for which in ("right", "wrong"):
        (folder / "solutions" / which).mkdir(parents=True)
    (folder / "task.yaml").write_text(TASK)
    (folder / "prompt.jinja").write_text("Shout.")
    (folder / "solutions" / "right" / "a.py").write_text("def shout(s): return s.upper()\n")
    (folder / "solutions" / "wrong" / "b.py").write_text("def shout(s): return s.title() + '!'\n")
    return folder


def armgate(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["armgate", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.mark.usefixtures("process_tier")
def test_a_right_answer_ends_in_zero_and_prints_only_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("largest", "--answer", SHIPPED / "right" / "loop.py", "--tier", "process", "--json")
    assert armgate(monkeypatch, "tasks", "run", *arguments, "--workspace", ROOT) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["outcome"], said["kind"], said["cause"], said["tier"]) == ("passed", "pass", None, "process")
    assert said["planned"] == len(said["cases"]) == 105
    assert said["isolation"]["does_not"]
    assert said["isolation"]["profile"].startswith("sha256:")
    assert said["limits"]["cpu_s"] >= 2.0
    assert {"case", "kind", "input", "expected", "observed"} <= set(said["cases"][0])


@pytest.mark.usefixtures("process_tier")
def test_a_wrong_answer_ends_in_one_and_shows_the_first_difference(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("largest", "--answer", SHIPPED / "wrong" / "starts_at_zero.py", "--tier", "process")
    assert armgate(monkeypatch, "tasks", "run", *arguments, "--workspace", ROOT) == 1
    out = capsys.readouterr().out
    assert "failed (wrong_answer) in the process tier" in out
    assert "given [[-7, -2, -9]]: expected -2, got 0" in out


@pytest.mark.usefixtures("process_tier")
def test_a_task_folder_anywhere_needs_no_workspace(
    shout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(shout.parent)
    answer = shout.parent / "answer.py"
    answer.write_bytes(b"\xff\xfe")
    assert armgate(monkeypatch, "tasks", "run", shout, "--answer", answer, "--tier", "process", "--json") == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["kind"], said["cause"]) == ("contract_violation", "not_unicode")


@pytest.mark.usefixtures("process_tier")
def test_hostile_output_stays_text_in_the_terminal(
    shout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = shout.parent / "answer.py"
    answer.write_text("def shout(s): raise ValueError('\\x1b[2J' + '\\u202e')\n")
    assert armgate(monkeypatch, "tasks", "run", shout, "--answer", answer, "--tier", "process") == 1
    out = capsys.readouterr().out
    assert "ValueError" in out
    assert "\x1b" not in out
    assert "\u202e" not in out


def test_without_a_sandbox_it_is_errored_and_nothing_runs(
    shout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(_: str) -> NoReturn:
        raise SandboxUnavailable("no sandbox holds on this host; process: no Landlock")

    monkeypatch.setattr(tasks_command, "open_executor", refuse)
    answer = shout / "solutions" / "right" / "a.py"
    assert armgate(monkeypatch, "tasks", "run", shout, "--answer", answer, "--json") == 4
    said = json.loads(capsys.readouterr().out)
    assert (said["outcome"], said["cause"], said["tier"]) == ("errored", "sandbox_unavailable", None)
    assert "no Landlock" in said["message"]
    assert said["cases"] == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "absent", "--answer", "x.py"),
        ("run", "largest", "--answer", "/nonexistent/x.py", "--workspace", ROOT),
        ("run", "largest", "--answer", __file__, "--tier", "jail", "--workspace", ROOT),
        ("run", "largest"),
        ("test", "absent"),
    ],
)
def test_wrong_usage_ends_in_two(arguments: tuple[object, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    assert armgate(monkeypatch, "tasks", *arguments) == 2


@pytest.mark.usefixtures("process_tier")
def test_a_task_is_held_against_its_own_solutions(
    shout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert armgate(monkeypatch, "tasks", "test", shout, "--tier", "process") == 0
    assert "+ shout  1 right and 1 wrong solutions" in capsys.readouterr().out
    (shout / "solutions" / "wrong" / "b.py").write_text("def shout(s): return s.swapcase()\n")
    assert armgate(monkeypatch, "tasks", "test", shout, "--tier", "process", "--json") == 1
    (said,) = json.loads(capsys.readouterr().out)
    assert said["problems"] == ["wrong/b.py is wrong and was judged pass"]


def test_tiers_are_listed_with_what_each_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(name: str) -> Callable[[object], NoReturn]:
        def start(_: object) -> NoReturn:
            raise SandboxUnavailable(f"no {name} here")

        return start

    for name in TIERS:
        monkeypatch.setitem(TIERS, name, refuse(name))
    assert armgate(monkeypatch, "sandbox", "list", "--json") == 4
    said = json.loads(capsys.readouterr().out)
    assert [entry["tier"] for entry in said] == ["container+gvisor", "container", "namespaces", "process"]
    assert [entry["holds"] for entry in said] == [False] * 4
    assert armgate(monkeypatch, "sandbox", "list") == 4
    assert "? namespaces: no namespaces here" in capsys.readouterr().out


@pytest.mark.usefixtures("process_tier")
def test_a_tier_that_holds_says_what_it_isolates(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["armgate", "sandbox", "list", "process"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None)
    out = capsys.readouterr().out
    assert "+ process: Landlock ABI" in out
    assert "does not  scratch space is watched" in out


def test_an_unknown_tier_is_wrong_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    assert armgate(monkeypatch, "sandbox", "list", "jail") == 2


def test_building_without_an_engine_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
    assert armgate(monkeypatch, "sandbox", "build") == 4
    assert "Install and start Docker, or set DOCKER_HOST" in capsys.readouterr().err
    assert sandbox_command.sandbox.info.help
