"""The frozen published runs: every file is as it was published, and each verdict comes out again."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from armgate.campaign.rejudge import rejudge
from armgate.campaign.report import renew_report
from armgate.reporting.checksums import verify
from armgate.reporting.run_folder import RunFolder

FROZEN = sorted(path.parent for path in Path(__file__).parents[1].glob("runs/published/*/plan.json"))


def test_there_is_one() -> None:
    assert [path.name for path in FROZEN] == ["quickstart"]


@pytest.mark.parametrize("root", FROZEN, ids=lambda path: path.name)
def test_it_is_as_it_was_published(root: Path) -> None:
    assert verify(root).intact


@pytest.mark.parametrize("root", FROZEN, ids=lambda path: path.name)
def test_it_judges_as_it_did(root: Path) -> None:
    again = rejudge(RunFolder(root))
    assert again.differences == ()
    assert again.verdict_count == json.loads((root / "plan.json").read_bytes())["plan"]["counts"]["verdicts"]


@pytest.mark.parametrize("root", FROZEN, ids=lambda path: path.name)
def test_its_report_comes_out_again(root: Path) -> None:
    _, files = renew_report(RunFolder(root))
    assert files
    assert verify(root).intact


@pytest.mark.parametrize("root", FROZEN, ids=lambda path: path.name)
def test_it_comes_out_again_on_another_python(root: Path, tmp_path: Path) -> None:
    """ARMGATE_OTHER_PYTHON: an interpreter of another version, with Armgate's dependencies installed."""
    python = os.environ.get("ARMGATE_OTHER_PYTHON")
    if python is None:
        pytest.skip("ARMGATE_OTHER_PYTHON names no other interpreter")
    copy = tmp_path / "elsewhere"
    shutil.copytree(root, copy)
    source = {"PYTHONPATH": str(Path(__file__).parents[1] / "src"), "PATH": os.environ["PATH"]}
    told = {
        command: subprocess.run(
            [python, "-m", "armgate", command, copy], env=source, capture_output=True, text=True, check=False
        )
        for command in ("report", "judge")
    }
    assert told["report"].returncode == 0, told["report"].stderr
    assert "all identical to the record" in told["judge"].stdout
    assert verify(copy).intact
