"""Boots beyond the first: answers replayed through the reference, the chosen arm once more, replicates."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from armgate.campaign.derived import read_plan
from armgate.campaign.judge import BootJudge
from armgate.campaign.known import known
from armgate.campaign.progress import Progress
from armgate.campaign.rejudge import rejudge
from armgate.campaign.resume import finished_boots
from armgate.campaign.run import execute, start
from armgate.campaign.sandbox import Sandboxes
from armgate.campaign.setting import Setting
from armgate.client.journal import read_journal
from armgate.errors import DeclarationError
from armgate.loading.plan import make_plan
from armgate.loading.workspace import Workspace
from armgate.model.outcome import ArmVerdict, Outcome, Verdict
from armgate.model.plan import Plan, PlannedBoot
from armgate.model.quality import QualityRecord
from armgate.reporting.run_folder import RunFolder
from support.stand_in import SmallWorkspace

DRAFT = {"speculative": {"method": "ngram", "depth": 3}}
STORY = {"match": "story", "text": "once upon another time"}


def plan_of(small: SmallWorkspace, **arms: dict[str, Any]) -> Plan:
    return make_plan(Workspace(small.root), small.campaign(**arms), known())


def run(
    small: SmallWorkspace, progress: Progress | None = None, **arms: dict[str, Any]
) -> tuple[RunFolder, dict[str, QualityRecord]]:
    """A whole run; what is judged again must be what was recorded, and what was planned must be there."""
    plan = plan_of(small, **arms)
    folder = start(plan, small.root / "runs", "campaigns/small.yaml")
    setting = Setting(plan, folder, Workspace(small.root), progress or Progress(), Sandboxes())
    records = dict(asyncio.run(execute(setting)).records)
    again = rejudge(folder)
    assert again.differences == ()
    final = json.loads(folder.comparison.read_bytes())["final"]
    skipped = final["counts"]["planned"] if final and final["state"] == "not_booted" else 0
    assert sum(record.counts.planned for record in records.values()) + skipped == plan.counts.verdicts
    return folder, records


def margin(small: SmallWorkspace, nats: float = 0.1) -> None:
    next(gate for gate in small.ladder if gate["id"] == "lossless")["options"] = {"near_tie_nats": nats}


def lossless(record: QualityRecord, boot: str = "00") -> Verdict:
    return next(gate for gate in record.gates if gate.gate == "lossless").verdicts[boot]


def forced(small: SmallWorkspace, gaps: dict[str, float]) -> tuple[RunFolder, dict[str, QualityRecord]]:
    """A draft that says one other word, replayed through a reference that holds words less likely."""
    held = small.replies("base", {"match": "no prompt", "text": "", "gaps": gaps})
    other = {"serve": {"replies": small.replies("other", STORY)}, "boots": {"teacher_forcing": True}}
    return run(small, base={"serve": {"replies": held}}, deep={**DRAFT, **other})


def test_a_near_tie_early_does_not_condemn_the_rest(small: SmallWorkspace) -> None:
    margin(small)
    folder, records = forced(small, {" another": 0.05})
    lines = [line for line in read_journal(folder.boot("deep", 0).verdicts) if line["gate"] == "lossless"]
    assert [(line["outcome"], line["revises"]) for line in lines] == [("failed", None), ("passed", "failed")]
    verdict = lossless(records["deep"])
    assert records["deep"].arm_verdict is ArmVerdict.ACCEPTED
    story = verdict.samples[0]
    assert (story.cause, story.detail["teacher_forced"]["flips"]) == ("near_tie", 1)
    worst = story.detail["teacher_forced"]["worst"]
    assert (worst["index"], worst["gap_nats"]) == (2, pytest.approx(0.05))
    assert verdict.measurements["teacher_forced"]["per_1000_tokens"]["value"] == pytest.approx(1000 / 7)
    assert verdict.measurements["divergence"]["diverged"] == 1
    evidence = [folder.boot("deep", 0).root / path for path in story.evidence]
    assert all(path.exists() for path in evidence)
    assert evidence[1].resolve().is_relative_to(folder.boot("base", 1).root.resolve())
    kept = finished_boots(folder, read_plan(folder).plan)
    assert [boot.purpose for boot in kept] == ["first", "first", "teacher_forcing"]


def test_what_a_void_of_the_whole_boot_took_away_no_replay_gives_back(small: SmallWorkspace) -> None:
    margin(small)
    folder, records = forced(small, {" another": 0.05})
    plan = read_plan(folder).plan
    judge = BootJudge(folder, plan, next(boot for boot in plan.boots if boot.arm == "deep"))
    first = lossless(records["deep"]).model_copy(update={"outcome": Outcome.FAILED, "revises": None})
    assert judge.revisions({"lossless": first})["lossless"].outcome is Outcome.PASSED
    void = {"outcome": Outcome.VOID, "cause": "draft_vocab_mismatch", "revises": Outcome.FAILED}
    assert judge.revisions({"lossless": first.model_copy(update=void)}) == {}


def test_a_token_that_the_reference_would_not_have_said_fails(small: SmallWorkspace) -> None:
    margin(small)
    _, records = forced(small, {" another": 2.0})
    verdict = lossless(records["deep"])
    assert (verdict.outcome, verdict.revises) == (Outcome.FAILED, Outcome.FAILED)
    assert "beyond a near tie at token 2" in (verdict.message or "")
    assert records["deep"].arm_verdict is ArmVerdict.REJECTED


def test_a_margin_below_what_the_reference_shows_of_itself_decides_nothing(small: SmallWorkspace) -> None:
    margin(small)
    _, records = forced(small, {" another": 0.5, " upon": 0.7})
    assert lossless(records["deep"]).cause == "control_unstable"
    control = lossless(records["base"], "01")
    assert (control.outcome, control.cause) == (Outcome.VOID, "control_unstable")
    assert records["deep"].arm_verdict is ArmVerdict.INCONCLUSIVE


def test_the_replaying_boot_is_planned_counted_and_kept_apart(small: SmallWorkspace) -> None:
    margin(small)
    plan = plan_of(small, deep={**DRAFT, "boots": {"teacher_forcing": True, "replicates": 1}}, plain={})
    assert plan.boots[-1] == PlannedBoot(arm="base", boot=1, purpose="teacher_forcing")
    assert [(replay.arm, replay.boot) for replay in plan.replays("base")] == [
        ("base", 0),
        ("deep", 0),
        ("deep", 1),
    ]
    without = plan_of(small, deep={**DRAFT, "boots": {"replicates": 1}}, plain={})
    assert plan.counts.requests - without.counts.requests == 3 * 2
    assert plan.counts.verdicts - without.counts.verdicts == 2


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"lossless": {}}, "declares its margin"),
        ({"lossless": {"options": {"near_tie_nats": 0.1}, "on_failure": "stop"}}, "cannot stop it"),
        (
            {"lossless": {"options": {"near_tie_nats": 0.1}}, "speed": {"requires": ["lossless"]}},
            "'lossless' is decided after the boot",
        ),
        ({"lossless": None}, "the ladder has none"),
    ],
)
def test_a_ladder_that_cannot_wait_for_the_replay_is_refused(
    small: SmallWorkspace, changes: dict[str, dict[str, Any] | None], says: str
) -> None:
    small.ladder = [
        {**gate, **(changes.get(gate["id"]) or {})}
        for gate in small.ladder
        if changes.get(gate["id"], {}) is not None
    ]
    with pytest.raises(DeclarationError, match=says):
        plan_of(small, deep={**DRAFT, "boots": {"teacher_forcing": True}})


def test_the_chosen_arm_has_to_pass_the_ladder_once_more(small: SmallWorkspace) -> None:
    broken = small.replies("broken", {"match": "say yes", "text": "no"})
    final = {"boots": {"final": True}}
    folder, records = run(small, base=final, broken={"serve": {"replies": broken}, **final})
    told = json.loads(folder.comparison.read_bytes())
    assert (told["choice"]["status"], told["choice"]["winner"]) == ("winner", "base")
    assert "passed the ladder again" in told["choice"]["statement"]
    assert (told["final"]["state"], told["final"]["arm"], told["final"]["boot"]) == ("held", "base", 1)
    assert records["base"].boots["01"]["purpose"] == "final"
    assert not (folder.root / "arms" / "broken" / "boots" / "01").exists()
    boots = {summary["boots"] for arm in told["arms"] for summary in arm["summaries"]}
    assert boots <= {1}


class Breaking(Progress):
    """Breaks an arm's replies when its final boot begins."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def boot_started(self, boot: PlannedBoot) -> None:
        if boot.purpose == "final":
            self.file.write_text(json.dumps([{"match": "say yes", "text": "no"}]))


def test_an_arm_that_does_not_hold_on_its_final_boot_does_not_win(small: SmallWorkspace) -> None:
    replies = small.replies("own")
    broken = small.replies("broken", {"match": "say yes", "text": "no"})
    arms = {
        "base": {"serve": {"replies": replies}, "boots": {"final": True}},
        "broken": {"serve": {"replies": broken}},
    }
    folder, records = run(small, Breaking(Path(replies)), **arms)
    told = json.loads(folder.comparison.read_bytes())
    assert (told["choice"]["status"], told["choice"]["winner"]) == ("none_qualifies", None)
    assert "did not pass the ladder again" in told["choice"]["statement"]
    assert told["final"]["state"] == "did_not_hold"
    assert records["base"].arm_verdict is ArmVerdict.REJECTED


def test_without_a_winner_the_final_boot_is_skipped_and_still_counts(
    small: SmallWorkspace,
) -> None:
    folder, _ = run(small, base={"boots": {"final": True}}, other={"boots": {"final": True}})
    told = json.loads(folder.comparison.read_bytes())
    assert told["choice"]["status"] == "insufficient_evidence"
    assert (told["final"]["state"], told["final"]["because_of"]) == ("not_booted", "no_winner")
    assert told["final"]["counts"]["skipped"] == told["final"]["counts"]["planned"] == 6


def test_a_run_in_a_folder_named_from_here_has_its_log(
    small: SmallWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small.root)
    small.ladder = small.ladder[:1]
    plan = plan_of(small)
    folder = start(plan, Path("runs"), "campaigns/small.yaml")
    asyncio.run(execute(Setting(plan, folder, Workspace(small.root), Progress(), Sandboxes())))
    assert folder.boot("base", 0).log.exists()


def test_replicates_of_the_reference_are_a_floor_from_boot_to_boot(small: SmallWorkspace) -> None:
    folder, records = run(small, base={"boots": {"replicates": 1}}, deep=DRAFT)
    arm = lossless(records["deep"]).measurements
    assert arm["noise_floor_from_boot_to_boot"]["identical"] == 2
    assert lossless(records["base"], "01").measurements["from_boot_to_boot"]["identical"] == 2
    told = json.loads(folder.comparison.read_bytes())
    across = [floor for floor in told["flips"] if floor["scope"] == "across_boots"]
    assert {floor["gate"] for floor in across} == {"responds", "yes", "after-yes"}
    assert all(floor["flips"] == 0 for floor in across)
