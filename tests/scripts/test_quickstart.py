"""`scripts/demo`: which endings of the quickstart count as done."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from prepare.places import Places
from prepare.quickstart import missing_records, run_quickstart

PROGRAM = """#!/bin/sh
[ "$1" = run ] && [ "$2" = campaigns/quickstart.yaml ] || exit 99
out=runs; [ "$3" = --out ] && out=$4
mkdir -p "$out/quickstart/new" && cp -r records/. "$out/quickstart/new/"
{ending}
"""


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """A checkout whose `armgate` copies `records/` into a run folder and ends as told."""
    arm = tmp_path / "records" / "arms" / "baseline"
    arm.mkdir(parents=True)
    (arm / "quality.json").write_text("{}")
    (tmp_path / "records" / "comparison.json").write_text("{}")
    (tmp_path / "records" / "plan.json").write_text(json.dumps({"plan": {"arms": {"baseline": {}}}}))
    (tmp_path / "pyproject.toml").write_text("[build-system]\n[project]\n[tool.hatch]\n")
    return Places(tmp_path)


def ends(places: Places, ending: str) -> None:
    program = places.made / "venv" / "bin" / "armgate"
    program.parent.mkdir(parents=True)
    program.write_text(PROGRAM.replace("{ending}", ending))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


@pytest.mark.parametrize("code", [0, 1, 3])
def test_a_verdict_with_a_complete_record_is_success(
    places: Places, code: int, capfd: pytest.CaptureFixture[str]
) -> None:
    ends(places, f"exit {code}")
    assert run_quickstart(places, []) == 0
    assert f"exit code {code}:" in capfd.readouterr().out


@pytest.mark.parametrize("code", [2, 4, 5, 130])
def test_other_endings_keep_their_code(places: Places, code: int) -> None:
    ends(places, f"exit {code}")
    assert run_quickstart(places, []) == code


def test_a_killed_run_is_no_success(places: Places) -> None:
    ends(places, "kill -9 $$")
    assert run_quickstart(places, []) == 128 + 9


@pytest.mark.parametrize("name", ["comparison.json", "arms/baseline/quality.json"])
def test_a_verdict_without_its_record_is_no_success(
    places: Places, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (places.root / "records" / name).unlink()
    ends(places, "exit 1")
    assert run_quickstart(places, []) == 4
    assert name in capfd.readouterr().out


def test_an_older_run_does_not_stand_in_for_this_one(places: Places) -> None:
    older = places.root / "runs" / "quickstart" / "older"
    older.parent.mkdir(parents=True)
    (places.root / "records").rename(older)
    (places.root / "records").mkdir()
    ends(places, "exit 0")
    assert run_quickstart(places, []) == 4


def test_arguments_are_passed_on(places: Places) -> None:
    ends(places, "exit 0")
    assert run_quickstart(places, ["--out", "elsewhere"]) == 0
    assert missing_records(places.root / "elsewhere" / "quickstart" / "new") == []
    assert not (places.root / "runs").exists()
