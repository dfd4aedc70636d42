"""`armgate verify` and `armgate report` as a user meets them."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from armgate.campaign.derived import RunResult
from armgate.cli.app import app
from armgate.cli.running import tell
from armgate.reporting.checksums import NAME
from armgate.reporting.run_folder import RunFolder
from support.stand_in import register

runner = CliRunner()


@pytest.fixture(autouse=True)
def _engine() -> None:
    register()


def test_verify_names_what_changed(mixed_copy: RunFolder) -> None:
    assert runner.invoke(app, ["verify", str(mixed_copy.root)]).exit_code == 0
    mixed_copy.quality("base").write_text("{}")
    (mixed_copy.root / "new\x1b[31m").write_text("")
    told = runner.invoke(app, ["verify", str(mixed_copy.root)])
    assert told.exit_code == 1
    assert "changed: arms/base/quality.json" in told.output
    assert "extra: new\\x1b[31m" in told.output
    as_json = runner.invoke(app, ["verify", str(mixed_copy.root), "--json"])
    assert json.loads(as_json.stdout)["changed"] == ["arms/base/quality.json"]


def test_report_gives_the_same_bytes_again(mixed_copy: RunFolder) -> None:
    before = {p: p.read_bytes() for p in mixed_copy.root.rglob("*") if p.is_file()}
    (mixed_copy.root / "dataset.csv").unlink()
    (mixed_copy.root / "junit.xml").write_text("spoiled")
    told = runner.invoke(app, ["report", str(mixed_copy.root)])
    assert told.exit_code == 0, told.output
    assert {p: p.read_bytes() for p in mixed_copy.root.rglob("*") if p.is_file()} == before


def test_report_does_not_cover_up_changed_evidence(mixed_copy: RunFolder) -> None:
    exchange = next(mixed_copy.root.glob("arms/base/boots/00/exchanges/yes/*.jsonl"))
    exchange.write_bytes(exchange.read_bytes().replace(b"yes", b"yep"))
    assert runner.invoke(app, ["report", str(mixed_copy.root)]).exit_code == 4
    assert str(exchange.relative_to(mixed_copy.root)) in runner.invoke(
        app, ["verify", str(mixed_copy.root)]
    ).output  # fmt: skip


def test_report_summary_prints_markdown(mixed_copy: RunFolder) -> None:
    told = runner.invoke(app, ["report", str(mixed_copy.root), "--summary"])
    assert told.stdout.startswith("## armgate: small\n")


def test_a_run_that_was_not_finished_has_no_sums_to_go_by(mixed_copy: RunFolder) -> None:
    (mixed_copy.root / NAME).unlink()
    assert type(runner.invoke(app, ["verify", str(mixed_copy.root)]).exception).__name__ == "RecordError"


def test_a_ci_jobs_page_gets_the_summary(
    mixed_run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "summary.md"
    page.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    tell(RunResult({}, 1), mixed_run.root, as_json=True)
    assert page.read_text().startswith("before\n## armgate: small\n")
