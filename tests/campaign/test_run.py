"""Whole runs against the stand-in engine: what is recorded, what is decided, and what is left behind."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import jsonschema
import pytest

from armgate.campaign.derived import RunResult, read_plan
from armgate.campaign.progress import Progress
from armgate.campaign.rejudge import rejudge
from armgate.campaign.resume import finished_boots
from armgate.campaign.run import execute
from armgate.cli.schema import schema_of
from armgate.client.journal import read_journal
from armgate.errors import RecordError, UsageError
from armgate.model.outcome import ArmVerdict, Outcome
from armgate.model.plan import PlannedGate
from armgate.model.quality import QualityRecord
from armgate.reporting.run_folder import RunFolder
from support import stand_in_command
from support.labelled import labelled
from support.runs import run, setting
from support.stand_in import SmallWorkspace

P, F, S, V = Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED, Outcome.VOID


def outcomes(record: QualityRecord) -> dict[str, Outcome]:
    return {gate.gate: gate.outcome for gate in record.gates}


def assert_adds_up(record: QualityRecord) -> None:
    counts = record.counts
    assert counts.planned == counts.passed + counts.failed + counts.skipped + counts.void + counts.errored
    told = Counter(v.outcome.value for gate in record.gates for v in gate.verdicts.values())
    assert counts.planned == sum(told.values())


def assert_judges_the_same(folder: RunFolder) -> None:
    again = rejudge(folder)
    assert again.differences == ()
    assert again.verdict_count > 0


def test_sound_arms_are_accepted_and_everything_is_on_file(small: SmallWorkspace) -> None:
    folder, result = run(small, small.campaign(deep={"speculative": {"method": "ngram", "depth": 3}}))
    assert result.exit_code == 0
    for name in ("base", "deep"):
        record = result.records[name]
        assert record.arm_verdict is ArmVerdict.ACCEPTED
        assert set(outcomes(record).values()) == {P}
        assert_adds_up(record)
        on_file = json.loads(folder.quality(name).read_bytes())
        jsonschema.validate(on_file, schema_of("quality"))
        assert on_file["flags"]["quality_passed"] is True
    comparison = json.loads(folder.comparison.read_bytes())
    jsonschema.validate(comparison, schema_of("comparison"))
    deep = next(arm for arm in comparison["arms"] if arm["name"] == "deep")
    assert deep["versus"][0]["attribution"]["confounded"] is False
    assert_judges_the_same(folder)
    assert labelled(folder.root.name) == []


def test_the_plan_is_on_file_before_the_first_boot_and_counts_what_is_sent(small: SmallWorkspace) -> None:
    seen: list[bool] = []

    class Watching(Progress):
        requests = 0

        def boot_started(self, boot: object) -> None:
            seen.append(next(small.root.glob("runs/small/*/plan.json")).exists())

        def request_done(self, planned: PlannedGate, tokens: int | None, wall_s: float | None) -> None:
            self.requests += 1

    watching = Watching()
    folder, _ = run(small, small.campaign(other={}), watching)
    assert seen == [True, True]
    assert read_plan(folder).plan.counts.requests == watching.requests
    assert "contracts/says-yes.yaml" in read_plan(folder).plan.inputs


def test_an_arm_that_breaks_a_contract_is_rejected_with_the_span(small: SmallWorkspace) -> None:
    broken = small.replies("broken", {"match": "say yes", "text": "yes indeed"})
    folder, result = run(small, small.campaign(broken={"serve": {"replies": broken}}))
    assert result.exit_code == 1
    record = result.records["broken"]
    assert record.arm_verdict is ArmVerdict.REJECTED
    assert outcomes(record) | {"yes": F, "after-yes": S} == outcomes(record)
    yes = next(gate for gate in record.gates if gate.gate == "yes")
    assert [v.clause for v in yes.verdicts["00"].samples[0].violations] == ["exact"]
    after = next(gate for gate in record.gates if gate.gate == "after-yes")
    assert after.because_of == "yes"
    assert record.flags.contract_passed is False
    assert record.flags.semantic_passed is True
    assert_adds_up(record)
    assert_judges_the_same(folder)


def test_an_arm_that_says_other_words_is_not_lossless(small: SmallWorkspace) -> None:
    other = small.replies("other", {"match": "story", "text": "once upon another time"})
    folder, result = run(small, small.campaign(other={"serve": {"replies": other}}))
    lossless = next(gate for gate in result.records["other"].gates if gate.gate == "lossless")
    assert lossless.outcome is F
    parted = lossless.verdicts["00"].samples[0].detail["divergence"]
    assert (parted["index"], parted["unit"]) == (2, "tokens")
    own = next(gate for gate in result.records["base"].gates if gate.gate == "lossless")
    assert own.verdicts["00"].measurements["control"] is True
    assert_judges_the_same(folder)


def test_a_lost_connection_is_void_and_the_arm_inconclusive(small: SmallWorkspace) -> None:
    cut = small.replies("cut", {"match": "say yes", "text": "yes and more", "fault": "drop"})
    folder, result = run(small, small.campaign(cut={"serve": {"replies": cut}}))
    record = result.records["cut"]
    assert (record.arm_verdict, result.exit_code) == (ArmVerdict.INCONCLUSIVE, 3)
    assert outcomes(record)["yes"] is V
    assert outcomes(record)["after-yes"] is S
    assert record.flags.contract_passed is None
    assert_judges_the_same(folder)


def test_an_engine_that_dies_fails_the_request_in_flight_and_skips_the_rest(small: SmallWorkspace) -> None:
    dying = small.replies("dying", {"match": "say yes", "text": "", "fault": "die"})
    folder, result = run(small, small.campaign(dying={"serve": {"replies": dying}}))
    record = result.records["dying"]
    assert outcomes(record) | {"responds": P, "yes": F, "lossless": S} == outcomes(record)
    lossless = next(gate for gate in record.gates if gate.gate == "lossless")
    assert lossless.because_of == "engine_died"
    assert record.arm_verdict is ArmVerdict.REJECTED
    boot = json.loads(folder.boot("dying", 0).record.read_bytes())
    assert (boot["state"], boot["exit_code"]) == ("died", 3)
    assert_adds_up(record)
    assert_judges_the_same(folder)


def test_a_server_that_never_comes_up_is_not_booted_and_the_others_go_on(small: SmallWorkspace) -> None:
    folder, result = run(small, small.campaign(sick={"serve": {"die_at_start": True}}))
    assert result.exit_code == 4
    record = result.records["sick"]
    assert record.arm_verdict is ArmVerdict.NOT_BOOTED
    assert outcomes(record)["identity"] is P
    assert {o for gate, o in outcomes(record).items() if gate != "identity"} == {S}
    assert "RuntimeError: this server was told to fail" in record.reasons[0]
    assert result.records["base"].arm_verdict is ArmVerdict.ACCEPTED
    assert_judges_the_same(folder)


def test_an_engine_that_is_not_there_is_not_booted(small: SmallWorkspace) -> None:
    launcher = {"kind": "process", "python": "no/such/python"}
    folder, result = run(small, small.campaign(gone={"launcher": launcher}))
    record = result.records["gone"]
    assert record.arm_verdict is ArmVerdict.NOT_BOOTED
    assert "no/such/python" in record.reasons[0]
    assert_adds_up(record)
    assert_judges_the_same(folder)


def test_arms_over_several_nodes_are_refused_before_anything_starts(small: SmallWorkspace) -> None:
    image = {"image": "org/engine", "digest": "sha256:" + "0" * 64}
    launcher = {"kind": "container", "image": "image", "nodes": 2}
    campaign = small.campaign(wide={"launcher": launcher}, whole={"pins": {"image": image}})
    with pytest.raises(UsageError, match=r"several nodes.*: wide"):
        run(small, campaign)
    assert list((small.root / "runs").iterdir()) == []


def test_a_pin_that_differs_refuses_the_boot(small: SmallWorkspace) -> None:
    campaign = small.campaign()
    (small.root / "model" / "weights").write_bytes(b"other weights")
    folder, result = run(small, campaign)
    record = result.records["base"]
    assert outcomes(record)["identity"] is F
    assert record.arm_verdict is ArmVerdict.NOT_BOOTED
    assert all(g.because_of == "identity" for g in record.gates if g.gate != "identity")
    assert not folder.boot("base", 0).log.exists()
    assert_judges_the_same(folder)


def test_a_draft_that_never_drafts_voids_its_boot(small: SmallWorkspace) -> None:
    arm = {"speculative": {"method": "ngram", "depth": 2}, "serve": {"silent_draft": True}}
    folder, result = run(small, small.campaign(silent=arm))
    record = result.records["silent"]
    assert {o for gate, o in outcomes(record).items() if gate != "identity"} == {V}
    assert record.gates[1].verdicts["00"].cause == "draft_counters_never_moved"
    assert record.arm_verdict is ArmVerdict.INCONCLUSIVE
    assert len(read_journal(folder.boot("silent", 0).verdicts)) > len(record.gates)
    assert_judges_the_same(folder)


def test_a_gate_whose_input_exceeds_the_window_is_skipped_unsent(small: SmallWorkspace) -> None:
    haystack = {"target_tokens": 600, "question": "Which?", "markers": [{"id": "one"}]}
    small.ladder.append(
        {"id": "long", "check": "retrieval", "required": False, "why": "too long", "haystack": haystack}
    )
    folder, result = run(small, small.campaign(short={"serve": {"max_model_len": 300}}))
    gates = {
        name: next(g for g in result.records[name].gates if g.gate == "long") for name in ("base", "short")
    }
    assert (gates["short"].outcome, gates["short"].because_of) == (S, "exceeds_context")
    assert gates["base"].outcome is not S
    assert not list(folder.boot("short", 0).root.glob("exchanges/long/*"))
    assert_judges_the_same(folder)


def test_cancelling_mid_gate_leaves_a_complete_record_and_no_process(small: SmallWorkspace) -> None:
    slow = small.replies("slow", {"match": "say yes", "text": "yes " * 100, "fault": "slow"})
    made = setting(small, small.campaign(slow={"serve": {"replies": slow}}, never={}))

    async def interrupted() -> RunResult:
        task = asyncio.ensure_future(execute(made))
        folder = made.run.boot("slow", 0)
        async with asyncio.timeout(60):
            while not (folder.root / "exchanges" / "yes").exists():
                await asyncio.sleep(0.05)
        await asyncio.sleep(0.5)
        task.cancel()
        return await task

    result = asyncio.run(interrupted())
    assert result.exit_code == 130
    assert labelled(made.run.root.name) == []
    slow_record, never = result.records["slow"], result.records["never"]
    assert outcomes(slow_record)["responds"] is P
    assert outcomes(slow_record)["yes"] is V
    lossless = next(g for g in slow_record.gates if g.gate == "lossless")
    assert (lossless.outcome, lossless.because_of) == (S, "interrupted")
    assert set(outcomes(never).values()) == {S}
    for record in result.records.values():
        assert_adds_up(record)
    assert_judges_the_same(made.run)


def test_ctrl_c_on_the_command_line(small: SmallWorkspace, tmp_path: Path) -> None:
    slow = small.replies("slow", {"match": "say yes", "text": "yes " * 200, "fault": "slow"})
    campaign = small.campaign(slow={"serve": {"replies": slow}})
    process = subprocess.Popen(
        [sys.executable, stand_in_command.__file__, "run", str(campaign)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    told = []
    assert process.stderr is not None
    for line in process.stderr:
        told.append(line)
        if "slow: responds passed" in line:
            break
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "interrupted" in out
    run_folder = next(small.root.glob("runs/small/*"))
    assert labelled(run_folder.name) == []
    assert_judges_the_same(RunFolder(run_folder))


def test_a_boot_that_takes_too_long_is_stopped_and_the_others_go_on(small: SmallWorkspace) -> None:
    slow = small.replies("slow", {"match": "say yes", "text": "yes " * 200, "fault": "slow"})
    arm = {"serve": {"replies": slow}, "deadlines": {"boot_s": 6.0}}
    folder, result = run(small, small.campaign(slow=arm, other={}))
    record = result.records["slow"]
    assert outcomes(record) | {"responds": P, "yes": V, "lossless": S} == outcomes(record)
    lossless = next(gate for gate in record.gates if gate.gate == "lossless")
    assert lossless.because_of == "boot_deadline"
    assert result.records["other"].arm_verdict is ArmVerdict.ACCEPTED
    assert result.exit_code == 3
    assert labelled(folder.root.name) == []
    assert_adds_up(record)
    assert_judges_the_same(folder)


def test_the_campaigns_deadline_leaves_the_rest_to_be_resumed(small: SmallWorkspace) -> None:
    slow = small.replies("slow", {"match": "say yes", "text": "yes " * 200, "fault": "slow"})
    campaign = small.campaign({"deadline_s": 10.0}, slow={"serve": {"replies": slow}}, never={})
    folder, result = run(small, campaign)
    never = result.records["never"]
    assert {gate.because_of for gate in never.gates if gate.outcome is S} == {"campaign_deadline"}
    assert json.loads(folder.boot("slow", 0).record.read_bytes())["state"] == "interrupted"
    assert [boot.arm for boot in finished_boots(folder, read_plan(folder).plan)] == ["base"]
    assert result.exit_code == 4
    assert_adds_up(never)
    assert_judges_the_same(folder)


def test_changed_evidence_is_noticed(small: SmallWorkspace) -> None:
    folder, _ = run(small, small.campaign())
    exchange = next(folder.root.glob("arms/base/boots/00/exchanges/yes/*.jsonl"))
    exchange.write_text(exchange.read_text().replace("yes", "yep"))
    assert rejudge(folder).differences
    folder.plan.write_text(folder.plan.read_text().replace('"why": "a form"', '"why": "a farm"'))
    with pytest.raises(RecordError, match="does not match its own digest"):
        rejudge(folder)


def test_a_torn_verdict_line_is_not_half_read(small: SmallWorkspace) -> None:
    folder, _ = run(small, small.campaign())
    verdicts = folder.boot("base", 0).verdicts
    whole = verdicts.read_bytes()
    verdicts.write_bytes(whole[:-20])
    assert len(read_journal(verdicts)) == len(whole.splitlines()) - 1
    assert [d.file for d in rejudge(folder).differences] == ["arms/base/boots/00/verdicts.jsonl"]
