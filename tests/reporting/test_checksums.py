"""SHA256SUMS: every change is named, nothing else is, and coreutils agree."""

import os
import subprocess
from pathlib import Path

import pytest

from armgate.errors import RecordError
from armgate.reporting.checksums import NAME, renew_sums, verify, write_sums


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "arms" / "a").mkdir(parents=True)
    for name in ("plan.json", "arms/a/quality.json", "arms/a/with space"):
        (tmp_path / name).write_text(name)
    write_sums(tmp_path)
    return tmp_path


def test_an_untouched_run_is_intact_and_sha256sum_agrees(run: Path) -> None:
    assert verify(run).intact
    assert verify(run).files == 3
    subprocess.run(["sha256sum", "--quiet", "-c", NAME], cwd=run, check=True)


def test_changed_missing_and_extra_files_are_each_named(run: Path) -> None:
    (run / "plan.json").write_text("other")
    (run / "arms/a/quality.json").unlink()
    (run / "arms/a/new").write_text("")
    result = verify(run)
    assert (result.changed, result.missing, result.extra) == (
        ("plan.json",),
        ("arms/a/quality.json",),
        ("arms/a/new",),
    )
    assert not result.intact


def test_a_link_in_place_of_a_file_is_a_change_and_another_is_extra(run: Path, tmp_path: Path) -> None:
    (run / "plan.json").rename(run.parent / "elsewhere")
    (run / "plan.json").symlink_to(run.parent / "elsewhere")
    (run / "folder").symlink_to("/usr", target_is_directory=True)
    result = verify(run)
    assert result.changed == ("plan.json",)
    assert result.extra == ("folder",)


def test_new_sums_are_taken_only_of_the_files_that_were_made_anew(run: Path) -> None:
    (run / "plan.json").write_text("changed evidence")
    (run / "arms/a/quality.json").write_text("made anew")
    (run / "report.html").write_text("new")
    renew_sums(run, ["arms/a/quality.json", "report.html"])
    assert verify(run).changed == ("plan.json",)
    assert verify(run).extra == ()


def test_sums_that_were_never_written_are_not_made_afterwards(run: Path) -> None:
    (run / NAME).unlink()
    renew_sums(run, ["plan.json"])
    with pytest.raises(RecordError, match="was not finished"):
        verify(run)


@pytest.mark.parametrize("line", ["", "abc  plan.json", f"{'0' * 64}  ../x", f"{'0' * 64}  /etc/passwd"])
def test_a_line_that_names_no_file_of_the_run_is_refused_with_its_number(run: Path, line: str) -> None:
    with (run / NAME).open("a") as sums:
        sums.write(line + "\n")
    with pytest.raises(RecordError, match=r"SHA256SUMS:4: expected"):
        verify(run)


def test_a_pipe_is_no_file_and_does_not_hang(run: Path) -> None:
    (run / "plan.json").unlink()
    os.mkfifo(run / "plan.json")
    assert verify(run).changed == ("plan.json",)
