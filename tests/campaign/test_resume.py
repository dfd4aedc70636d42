"""Going on with runs that ended early: what is kept, what is booted again, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from armgate.campaign.derived import read_plan, recorded_verdicts
from armgate.campaign.evidence import boot_record
from armgate.campaign.rejudge import rejudge
from armgate.campaign.resume import finished_boots, refuse_changed
from armgate.cli.app import app
from armgate.client.journal import read_journal
from armgate.errors import RecordError, UsageError
from armgate.loading.workspace import Workspace
from armgate.reporting.run_folder import RunFolder
from support.killed_runs import KilledRuns, finished_exchanges
from support.stand_in import SmallWorkspace


def armgate(*arguments: object) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments), "--quiet"])


def resumed(folder: RunFolder) -> int:
    """The exit code; an error of ours is raised."""
    done = armgate("resume", folder.root)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code


def finished_run(small: SmallWorkspace, **arms: dict[str, object]) -> RunFolder:
    done = armgate("run", small.campaign(**arms), "--json")
    return RunFolder(Path(json.loads(done.stdout)["run"]))


def half_done(folder: RunFolder, arm: str) -> None:
    """What a kill in the middle of a boot's ladder leaves: a record without its end, fewer verdicts."""
    boot = folder.boot(arm, 0)
    record = json.loads(boot.record.read_bytes())
    boot.record.write_text(json.dumps({**record, "state": "ready", "total_s": None}))
    lines = boot.verdicts.read_bytes().splitlines(keepends=True)
    boot.verdicts.write_bytes(b"".join(lines[:3]) + lines[3][:25])


def outcomes(folder: RunFolder, arm: str) -> dict[str, str]:
    return {gate: v.outcome.value for gate, v in recorded_verdicts(folder.boot(arm, 0)).items()}


def test_a_half_finished_boot_is_set_aside_and_the_finished_one_kept(small: SmallWorkspace) -> None:
    folder = finished_run(small, other={})
    before = outcomes(folder, "other")
    half_done(folder, "other")
    kept = folder.boot("base", 0).verdicts.stat().st_mtime_ns
    exchanges = dict(finished_exchanges(folder))
    assert resumed(folder) == 0
    assert folder.boot("base", 0).verdicts.stat().st_mtime_ns == kept
    assert outcomes(folder, "other") == before
    aside = folder.root / "arms/other/boots/00.superseded-1"
    assert read_journal(aside / "verdicts.jsonl")[0]["gate"] == "identity"
    assert len(list(aside.glob("exchanges/*/*.jsonl"))) > 0
    assert set(exchanges.values()) <= set(dict(finished_exchanges(folder)).values())
    assert rejudge(folder).differences == ()


def test_an_interrupted_run_goes_on_where_it_was(small: SmallWorkspace) -> None:
    folder = finished_run(small, other={}, third={})
    for arm, state in (("other", "interrupted"), ("third", "not_started")):
        record = boot_record(folder.boot(arm, 0)).model_dump(mode="json")
        folder.boot(arm, 0).record.write_text(json.dumps({**record, "state": state}))
    assert [boot.arm for boot in finished_boots(folder, read_plan(folder).plan)] == ["base"]
    assert resumed(folder) == 0
    assert (folder.root / "arms/other/boots/00.superseded-1").is_dir()
    assert not (folder.root / "arms/third/boots/00.superseded-1").exists()
    assert len(finished_boots(folder, read_plan(folder).plan)) == 3


def test_a_finished_run_stays_as_it_is(small: SmallWorkspace) -> None:
    folder = finished_run(small)
    files = {path: path.read_bytes() for path in folder.root.rglob("*") if path.is_file()}
    assert resumed(folder) == 0
    assert {path: path.read_bytes() for path in folder.root.rglob("*") if path.is_file()} == files


@pytest.mark.parametrize("file", ["campaigns/small.yaml", "contracts/says-yes.yaml", "gates/small.yaml"])
def test_a_changed_input_is_refused_by_name(small: SmallWorkspace, file: str) -> None:
    folder = finished_run(small)
    path = small.root / file
    path.write_text(path.read_text() + "\n")
    with pytest.raises(UsageError, match=file):
        refuse_changed(read_plan(folder), Workspace(small.root))


def test_another_version_is_refused_by_name(small: SmallWorkspace) -> None:
    folder = finished_run(small)
    file = read_plan(folder)
    older = file.model_copy(update={"plan": file.plan.model_copy(update={"armgate_version": "0.0.1"})})
    with pytest.raises(UsageError, match=r"armgate 0\.0\.1 is now"):
        refuse_changed(older, Workspace(small.root))


def test_a_changed_campaign_can_begin_anew_beside_the_old_run(small: SmallWorkspace) -> None:
    folder = finished_run(small)
    small.campaign(other={})
    with pytest.raises(UsageError, match="--anew"):
        resumed(folder)
    done = armgate("resume", folder.root, "--anew", "--json")
    again = json.loads(done.stdout)
    assert Path(again["run"]) != folder.root
    assert Path(again["run"]).parent == folder.root.parent
    assert again["exit_code"] == 0


def test_two_writers_never_share_a_run(small: SmallWorkspace) -> None:
    folder = finished_run(small)
    with folder.locked(), pytest.raises(RecordError, match="being written by another armgate"):
        resumed(folder)
    assert resumed(folder) == 0


def test_two_verdicts_that_contradict_each_other_are_a_conflict(small: SmallWorkspace) -> None:
    folder = finished_run(small)
    boot = folder.boot("base", 0)
    line = read_journal(boot.verdicts)[1]
    twice = json.dumps({**line, "outcome": "void", "cause": "invented"}).encode() + b"\n"
    with boot.verdicts.open("ab") as file:
        file.write(twice)
    with pytest.raises(
        RecordError, match=r"verdicts.jsonl:7: conflict: gate 'responds' is passed, then void"
    ):
        recorded_verdicts(boot)


def test_kills_at_moments_over_a_whole_run_lose_nothing(tmp_path: Path) -> None:
    """`scripts/soak_kills` does this two hundred times."""
    runs = KilledRuns(tmp_path)
    kills = [runs.kill_at(runs.wall_s * share) for share in (0.4, 0.7)]
    assert [fault for kill in kills for fault in kill.faults] == []
