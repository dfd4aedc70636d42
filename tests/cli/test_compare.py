"""`compare` and `choose` on recorded runs: what they print, and the exit codes that a script acts on."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from armgate.campaign.finished import read_run
from armgate.campaign.regression import compare_runs
from armgate.cli.app import app
from armgate.engines.registry import ENGINES
from armgate.errors import UsageError
from support.stand_in import SmallWorkspace, register

runner = CliRunner()


@pytest.fixture
def small(tmp_path: Path) -> Iterator[SmallWorkspace]:
    register()
    yield SmallWorkspace.make(tmp_path)
    del ENGINES["stand-in"]


def made(small: SmallWorkspace, **arms: dict[str, Any]) -> Path:
    """The folder of a finished run."""
    campaign = small.campaign(**arms)
    done = runner.invoke(app, ["run", str(campaign), "--quiet", "--json"])
    return Path(json.loads(done.stdout)["run"])


def chosen(run: Path) -> dict[str, Any]:
    done = runner.invoke(app, ["choose", str(run), "--json"])
    told: dict[str, Any] = json.loads(done.stdout)
    assert told["exit_code"] == done.exit_code
    return told


def test_the_only_qualified_arm_is_chosen(small: SmallWorkspace) -> None:
    broken = small.replies("broken", {"match": "say yes", "text": "no"})
    told = chosen(made(small, broken={"serve": {"replies": broken}}))
    assert (told["exit_code"], told["status"], told["winner"]) == (0, "winner", "base")


def test_arms_that_cannot_be_told_apart_are_too_little_evidence(small: SmallWorkspace) -> None:
    told = chosen(made(small, other={}))
    assert (told["exit_code"], told["status"], told["winner"]) == (3, "insufficient_evidence", None)


def test_no_arm_wins_where_none_qualifies(small: SmallWorkspace) -> None:
    broken = {"serve": {"replies": small.replies("broken", {"match": "say yes", "text": "no"})}}
    run = made(small, base=broken, other=broken)
    told = chosen(run)
    assert (told["exit_code"], told["status"], told["winner"]) == (1, "none_qualifies", None)
    shown = runner.invoke(app, ["choose", str(run)]).stdout
    assert "no winner: reference retained, unqualified" in shown


def test_a_rejected_arm_stays_in_the_tables_with_its_reason_and_its_speed(small: SmallWorkspace) -> None:
    broken = small.replies("broken", {"match": "say yes", "text": "no"})
    run = made(small, broken={"serve": {"replies": broken}})
    told = json.loads(runner.invoke(app, ["compare", str(run), "--json"]).stdout)
    arm = next(arm for arm in told["arms"] if arm["name"] == "broken")
    assert "yes failed" in arm["reasons"][0]
    assert arm["summaries"]
    assert arm["versus"][0]["attribution"]["factor"].startswith("serve.replies: ")
    shown = runner.invoke(app, ["compare", str(run)])
    assert shown.exit_code == 0
    assert "yes failed" in shown.stdout


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    for command in ("compare", "choose"):
        done = runner.invoke(app, [command, str(tmp_path)])
        assert "is no plan of a run" in str(done.exception)


def against(now: Path, before: Path) -> tuple[int, dict[str, Any]]:
    done = runner.invoke(app, ["compare", str(now), "--against", str(before), "--json"])
    return done.exit_code, json.loads(done.stdout)


def test_a_run_is_held_against_an_older_one_of_the_same_ladder(small: SmallWorkspace) -> None:
    before = made(small)
    (small.root / "model" / "weights").write_bytes(b"other weights")
    broken = small.replies("broken", {"match": "say yes", "text": "no"})
    now = made(small, base={"serve": {"replies": broken}}, other={})
    code, told = against(now, before)
    (arm,) = told["arms"]
    assert (code, told["worse"], told["only_now"]) == (1, True, ["other"])
    assert (arm["before"], arm["now"]) == ("accepted", "rejected")
    assert {(one["gate"], one["now"]) for one in arm["changes"]} == {
        ("yes", "failed"),
        ("after-yes", "skipped"),
    }
    assert [one["path"] for one in arm["differences"]] == ["serve.replies", "target.tree"]
    shown = runner.invoke(app, ["compare", str(now), "--against", str(before)])
    assert "yes passed -> failed" in shown.stdout
    assert "worse: base" in shown.stdout
    code, told = against(before, before)
    assert (code, told["worse"], told["arms"][0]["changes"]) == (0, False, [])

    yes = next(gate for gate in small.ladder if gate["id"] == "yes")
    yes["probes"] = [{"id": "yes", "prompt": "say yes, please"}]
    other = made(small, base={"sampling": {"top_k": 5}})
    done = runner.invoke(app, ["compare", str(other), "--against", str(before)])
    assert isinstance(done.exception, UsageError)
    assert done.exception.exit_code == 2
    for path in ("ladder: yes.probes.yes.prompt", "ladder: yes.sent.yes.digest", "base.sampling.top_k"):
        assert path in str(done.exception)


def test_an_accepted_arm_that_is_gone_is_worse_and_no_arm_in_common_is_refused(small: SmallWorkspace) -> None:
    both, alone = made(small, other={}), made(small)
    code, told = against(alone, both)
    assert (code, told["worse"], told["lost"], told["only_before"]) == (1, True, ["other"], ["other"])
    shown = runner.invoke(app, ["compare", str(alone), "--against", str(both)])
    assert "worse: other was accepted and is not in this run" in shown.stdout
    code, told = against(both, alone)
    assert (code, told["worse"], told["lost"]) == (0, False, [])
    now, before = read_run(alone), read_run(both)
    strangers = dataclasses.replace(before, records={"other": before.records["other"]})
    with pytest.raises(UsageError, match="no arm in common: base against other"):
        compare_runs(now, strangers)


def test_the_plan_names_every_boot_and_what_it_is_for(small: SmallWorkspace) -> None:
    next(gate for gate in small.ladder if gate["id"] == "lossless")["options"] = {"near_tie_nats": 0.1}
    deep = {
        "speculative": {"method": "ngram", "depth": 3},
        "boots": {"teacher_forcing": True, "replicates": 1},
    }
    campaign = small.campaign(deep=deep, base={"boots": {"final": True}})
    shown = runner.invoke(app, ["plan", str(campaign)]).stdout
    boots = (
        "base 00, deep 00, deep 01 (replicate), base 01 (replays answers), the chosen arm once more (final)"
    )
    assert f"boots: {boots}" in shown
    assert "2 arms, 5 boots" in shown
