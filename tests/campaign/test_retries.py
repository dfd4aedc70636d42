"""Gates that may ask again: every attempt is on file, and the judged one is the one that was declared."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from armgate.campaign.known import known
from armgate.campaign.progress import Progress
from armgate.campaign.rejudge import rejudge
from armgate.campaign.run import execute, start
from armgate.campaign.sandbox import Sandboxes
from armgate.campaign.setting import Setting
from armgate.loading.plan import make_plan
from armgate.loading.workspace import Workspace
from armgate.model.outcome import Verdict
from armgate.reporting.run_folder import RunFolder
from support.stand_in import SmallWorkspace


def run(
    small: SmallWorkspace, retries: dict[str, Any] | None, reply: dict[str, Any]
) -> tuple[RunFolder, Verdict]:
    """A run of one arm whose first gate may ask again; that gate's verdict."""
    small.ladder = small.ladder[:1]
    small.ladder[0] = {**small.ladder[0], "on_failure": "continue"}
    small.ladder[0]["probes"] = [{"id": "hello", "prompt": "hello"}]
    if retries is not None:
        small.ladder[0]["retries"] = retries
    replies = small.replies("busy", {"match": "hello", "text": "good day", **reply})
    workspace = Workspace(small.root)
    campaign = small.campaign(base={"serve": {"replies": replies}})
    plan = make_plan(workspace, campaign, known())
    folder = start(plan, small.root / "runs", workspace.relative(campaign))
    result = asyncio.run(execute(Setting(plan, folder, workspace, Progress(), Sandboxes())))
    assert rejudge(folder).differences == ()
    gate = next(gate for gate in result.records["base"].gates if gate.gate == "responds")
    return folder, gate.verdicts["00"]


def recordings(folder: RunFolder) -> list[str]:
    return sorted(path.name for path in folder.root.glob("arms/base/boots/00/exchanges/responds/*"))


def test_the_last_attempt_counts_where_the_gate_says_so_its_wait_told_apart(
    small: SmallWorkspace,
) -> None:
    folder, verdict = run(small, {"attempts": 4, "wait_s": 0.3, "counts": "last"}, {"fault": "busy"})
    assert verdict.outcome.value == "passed"
    assert recordings(folder) == ["hello.0.attempt-1.jsonl", "hello.0.attempt-2.jsonl", "hello.0.jsonl"]
    told = verdict.measurements["attempts"]["hello.0"]
    assert (told["made"], told["unanswered"]) == (3, 2)
    assert told["judged"].endswith("hello.0.attempt-2.jsonl")
    assert told["waited_s"] >= 0.9
    assert told["ttft_s"] < told["waited_s"]
    assert [finding.kind for finding in verdict.findings] == ["sample_needed_retries"]


def test_the_first_attempt_counts_where_nothing_else_is_said(small: SmallWorkspace) -> None:
    folder, verdict = run(small, {"attempts": 3, "wait_s": 0.0}, {"fault": "busy"})
    assert (verdict.outcome.value, verdict.cause) == ("void", "server_error")
    assert len(recordings(folder)) == 3
    assert "sample_needed_retries" in {finding.kind for finding in verdict.findings}


@pytest.mark.parametrize("retries", [None, {"attempts": 3, "wait_s": 0.0}])
def test_an_answer_is_never_asked_for_again(small: SmallWorkspace, retries: dict[str, Any] | None) -> None:
    """Nor is anything where the ladder gives no leave."""
    folder, verdict = run(small, retries, {"fault": "length"} if retries else {"fault": "busy"})
    assert recordings(folder) == ["hello.0.jsonl"]
    assert "sample_needed_retries" not in {finding.kind for finding in verdict.findings}


def test_the_ledger_names_every_attempt(small: SmallWorkspace, tmp_path: Path) -> None:
    folder, _ = run(small, {"attempts": 2, "wait_s": 0.0}, {"fault": "busy"})
    entries = [json.loads(line) for line in folder.boot("base", 0).ledger.read_text().splitlines()]
    again = [entry for entry in entries if entry["event"] == "exchange_again"]
    assert [(one["of"], one["attempt"]) for one in again] == [("exchanges/responds/hello.0.jsonl", 1)]
