"""A run's verdicts as pytest items, in a pytest of its own."""

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

from armgate.reporting.run_folder import RunFolder

INSTALLED = bool(entry_points(group="pytest11", name="armgate"))
LOAD = [] if INSTALLED else ["-p", "armgate.pytest_plugin"]
"""An environment made before the plugin was declared has to be told of it."""


def run_pytest(*arguments: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "pytest", *LOAD, "-p", "no:cacheprovider", "-rA"]
    return subprocess.run([*argv, *arguments], capture_output=True, text=True, cwd="/", check=False)


def test_every_verdict_is_an_item_of_its_own_kind(mixed_run: RunFolder) -> None:
    told = run_pytest("--armgate-run", str(mixed_run.root))
    assert told.returncode == 1, told.stderr
    assert "PASSED" in told.stdout
    assert "broken/00/yes" in told.stdout.split("FAILED", 1)[1].splitlines()[0]
    errors = [line for line in told.stdout.splitlines() if line.startswith("ERROR")]
    assert any("cut/00/yes" in line for line in errors)
    assert "because of yes" in told.stdout
    assert "expected 'yes', found 'yes indeed'" in told.stdout


def test_hostile_words_do_not_steer_the_terminal(hostile_run: RunFolder) -> None:
    told = run_pytest("--armgate-run", str(hostile_run.root))
    assert "\x1b]0;" not in told.stdout
    assert "\u202e" not in told.stdout


def test_a_folder_that_is_no_run_is_a_usage_error() -> None:
    told = run_pytest("--armgate-run", "/nonexistent")
    assert told.returncode == 4
    assert "no plan of a run" in told.stderr


def test_without_the_option_nothing_of_armgate_is_imported(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text("def test_one(): pass\n")
    script = (
        f"import sys, pytest; pytest.main({[*LOAD, '-q', '-p', 'no:cacheprovider', str(tmp_path)]!r});"
        "print(sorted(m for m in sys.modules if m.startswith('armgate')))"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd="/", check=True)
    assert told.stdout.splitlines()[-1] == "['armgate', 'armgate.pytest_plugin']"
