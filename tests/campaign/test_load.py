"""Whole runs against the stand-in: batches and schedules as planned, and traffic of somebody else."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from armgate.campaign.rejudge import rejudge
from armgate.campaign.run import execute
from armgate.campaign.setting import Setting
from armgate.client.journal import read_journal
from armgate.model.outcome import Outcome, Verdict
from armgate.reporting.run_folder import BootFolder, RunFolder
from support.runs import setting
from support.stand_in import SmallWorkspace

P, V = Outcome.PASSED, Outcome.VOID
RESPONDS: dict[str, Any] = {
    "id": "responds", "check": "responds", "required": True, "why": "it answers",
    "probes": [{"id": "hello", "prompt": "hello", "warm_up": 1}],
}  # fmt: skip


def gate(gate_id: str, check: str = "speed", **fields: Any) -> dict[str, Any]:
    return {"id": gate_id, "check": check, "required": False, "why": "figures", **fields}


def prepared(small: SmallWorkspace, *gates: dict[str, Any], **serve: Any) -> Setting:
    small.ladder = [RESPONDS, *gates]
    return planned(small, **serve)


def planned(small: SmallWorkspace, **serve: Any) -> Setting:
    depth = serve.pop("depth", 0)
    arm: dict[str, Any] = {"serve": serve}
    if depth:
        arm["speculative"] = {"method": "ngram", "depth": depth}
    body = json.loads(small.campaign().read_text())
    body["defaults"]["serve"] |= arm.pop("serve")
    body["defaults"] |= arm
    campaign = small.root / "campaigns" / "small.yaml"
    campaign.write_text(json.dumps(body))
    return setting(small, campaign)


def judged(made: Setting) -> dict[str, Verdict]:
    """The verdicts of the only boot; judging the folder again gives the same."""
    result = asyncio.run(execute(made))
    assert rejudge(made.run).differences == ()
    return {one.gate: one.verdicts["00"] for one in result.records["base"].gates}


def boot_of(run: RunFolder) -> BootFolder:
    return run.boot("base", 0)


def test_batches_are_under_way_together_and_recorded_one_by_one(small: SmallWorkspace) -> None:
    slow = small.replies("slow", {"match": "talk", "text": "one two three four five", "fault": "slow"})
    probe = {"id": "talk", "prompt": "talk", "samples": 6, "concurrency": 3, "max_tokens": 5}
    made = prepared(small, gate("together", probes=[probe]), replies=slow)
    verdict = judged(made)["together"]
    assert verdict.outcome is P
    assert made.plan.counts.requests == 2 + 6
    entries = [e for e in read_journal(boot_of(made.run).ledger) if e.get("gate") == "together"]
    sent = [(e["n"], e["batch"]) for e in entries if e["event"] == "exchange"]
    assert sent == [(0, 0), (1, 0), (2, 0), (3, 1), (4, 1), (5, 1)]
    assert len(list(boot_of(made.run).root.glob("exchanges/together/*"))) == 6
    rates = verdict.measurements["rates"]["talk"]
    assert (rates["batch_window"]["n"], rates["decode_wall"]["n"]) == (2, 6)
    assert rates["batch_overlap"]["median"] > 2.0
    assert rates["batch_window"]["median"] > 2 * rates["end_to_end"]["median"]


def test_a_schedule_is_kept_whatever_is_under_way_and_lateness_is_told(small: SmallWorkspace) -> None:
    slow = small.replies("slow", {"match": "talk", "text": "one two three four five", "fault": "slow"})
    arrivals = {"process": "fixed", "per_s": 5.0}
    probe = {"id": "talk", "prompt": "talk", "samples": 4, "arrivals": arrivals}
    made = prepared(small, gate("open", probes=[probe]), replies=slow)
    rates = judged(made)["open"].measurements["rates"]["talk"]
    assert rates["lateness"]["n"] == 4
    assert rates["lateness"]["min"] >= 0
    assert rates["ttft_scheduled"]["median"] >= rates["ttft"]["median"]
    assert rates["batch_overlap"]["median"] > 1.5
    zeros = sorted(
        json.loads(line)["clock"]["zero_s"]
        for path in boot_of(made.run).root.glob("exchanges/open/*")
        for line in path.read_text().splitlines()[-1:]
    )
    assert zeros[-1] - zeros[0] == pytest.approx(0.6, abs=0.3)


def test_fresh_prefixes_miss_the_cache_and_warm_ones_hit_it(small: SmallWorkspace) -> None:
    grid = {
        "prompts": [{"id": "story", "prompt": "tell a story"}],
        "context_depths": [0, 60],
        "input_tokens": 40,
        "cache": ["fresh", "warm"],
        "concurrency": [1, 2],
        "runs": 1,
        "warm_up": 1,
        "max_tokens": 4,
    }
    made = prepared(small, gate("cache", grid=grid), caching=True)
    verdict = judged(made)["cache"]
    assert verdict.outcome is P, verdict.message
    by_cache = verdict.measurements["ttft_by_cache"]
    assert len(by_cache) == 8
    for probe, times in by_cache.items():
        assert bool(times["warm_s"]) == ("warm" in probe), probe
    prompts = {
        e["context"]["prompt_tokens"]
        for e in read_journal(boot_of(made.run).ledger)
        if e["event"] == "exchange" and e["gate"] == "cache"
    }
    assert {round(count, -1) for count in prompts} == {40, 100}


def test_a_prefix_that_was_cached_though_asked_fresh_is_void(small: SmallWorkspace) -> None:
    probe = {"id": "again", "prompt": "the same words each time", "samples": 2}
    made = prepared(small, gate("fresh", probes=[probe], options={"fresh_prefix": True}), caching=True)
    verdict = judged(made)["fresh"]
    assert (verdict.outcome, verdict.cause) == (V, "prompt_cached")


@contextlib.asynccontextmanager
async def second_client(run: RunFolder, gate_id: str, count: int) -> AsyncIterator[None]:
    """Sends `count` requests to the run's server as soon as `gate_id` has sent its first."""

    async def send() -> None:
        ledger = boot_of(run).ledger
        while not any(e["event"] == "exchange" and e["gate"] == gate_id for e in read_journal(ledger)):
            await asyncio.sleep(0.02)
        argv = json.loads(boot_of(run).record.read_text())["argv"]
        url = f"http://127.0.0.1:{argv[argv.index('--port') + 1]}/v1/chat/completions"
        body = {"messages": [{"role": "user", "content": "stranger"}], "max_tokens": 9}
        async with httpx.AsyncClient(trust_env=False) as client:
            for _ in range(count):
                assert (await client.post(url, json=body)).status_code == 200

    task = asyncio.ensure_future(send())
    try:
        yield
    finally:
        await asyncio.wait_for(task, 30)


@pytest.mark.parametrize(("isolated", "outcome", "cause"), [(False, P, None), (True, V, "foreign_traffic")])
def test_a_second_client_is_found_counted_and_voids_as_declared(
    small: SmallWorkspace, isolated: bool, outcome: Outcome, cause: str | None
) -> None:
    slow = small.replies("slow", {"match": "talk", "text": "one two three four five six", "fault": "slow"})
    probe = {"id": "talk", "prompt": "talk"}
    made = prepared(
        small,
        gate("shared", probes=[probe], options={"isolated": isolated}),
        gate("quiet", probes=[{"id": "calm", "prompt": "calm"}], options={"isolated": True}),
        replies=slow,
    )

    async def run() -> dict[str, Verdict]:
        async with second_client(made.run, "shared", 3):
            result = await execute(made)
        return {one.gate: one.verdicts["00"] for one in result.records["base"].gates}

    verdicts = asyncio.run(run())
    shared, quiet = verdicts["shared"], verdicts["quiet"]
    assert (shared.outcome, shared.cause) == (outcome, cause)
    assert shared.measurements["interference"]["requests"] == 3
    assert shared.measurements["interference"]["generation_tokens"] == 3
    assert [finding.kind for finding in shared.findings] == ["foreign_traffic"]
    assert "3 completions" in shared.findings[0].message
    assert (quiet.outcome, quiet.measurements["interference"]["requests"]) == (P, 0)
    assert quiet.findings == ()
    compared = json.loads(made.run.comparison.read_text())["arms"][0]["summaries"]
    assert {one["kind"] for one in compared} == ({"calm"} if isolated else {"talk", "calm"})
    assert rejudge(made.run).differences == ()


def test_a_restart_in_a_gate_voids_it_and_what_comes_after(small: SmallWorkspace) -> None:
    restart = small.replies("restart", {"match": "trip", "text": "a b c", "fault": "restart"})
    probe = {"id": "talk", "prompt": "talk"}
    made = prepared(
        small,
        gate("before", probes=[probe]),
        gate("trip", probes=[{"id": "trip", "prompt": "trip"}]),
        gate("after", probes=[probe]),
        replies=restart,
    )
    verdicts = judged(made)
    assert verdicts["before"].outcome is P
    assert (verdicts["trip"].outcome, verdicts["trip"].cause) == (V, "counter_reset")
    assert (verdicts["after"].outcome, verdicts["after"].cause) == (V, "server_restarted")


def test_preemptions_and_queue_time_are_told(small: SmallWorkspace) -> None:
    crowded = small.replies("crowded", {"match": "talk", "text": "a b", "fault": "preempt"})
    made = prepared(
        small, gate("crowded", probes=[{"id": "talk", "prompt": "talk", "samples": 2}]), replies=crowded
    )
    verdict = judged(made)["crowded"]
    assert [finding.kind for finding in verdict.findings] == ["preemptions"]
    counters = verdict.measurements["counters"]
    assert (counters["preemptions"], counters["queue_s"]) == (2, 0.5)


def test_acceptance_agrees_with_the_answers_own_figures_probe_by_probe(small: SmallWorkspace) -> None:
    probes = [
        {"id": "one", "prompt": "a b c d", "samples": 2, "warm_up": 1},
        {"id": "two", "prompt": "a b c d e f"},
    ]
    made = prepared(small, gate("accepted", "acceptance", probes=probes), depth=2, request_metrics=True)
    verdict = judged(made)["accepted"]
    assert (verdict.outcome, verdict.findings) == (P, ())
    counted = verdict.measurements["counters"]["acceptance"]
    own = verdict.measurements["per_request"]
    assert (counted["drafts"], counted["draft_tokens"], counted["accepted_tokens"]) == (18, 36, 18)
    assert {**own, "source": "counters", "per_position": None} == {**counted, "per_position": None}
    assert own["per_position"] == [1.0, 0.0]
    by_probe = verdict.measurements["by_probe"]
    assert {name: one["drafts"] for name, one in by_probe.items()} == {"one": 8, "two": 6}


def test_without_figures_in_the_answers_each_probe_has_the_counters_between_them(
    small: SmallWorkspace,
) -> None:
    probes = [{"id": "one", "prompt": "a b c d"}, {"id": "two", "prompt": "a b c d e f"}]
    made = prepared(small, gate("accepted", "acceptance", probes=probes), depth=2)
    verdict = judged(made)["accepted"]
    assert verdict.outcome is P, verdict.message
    by_probe = verdict.measurements["by_probe"]
    assert {name: one["drafts"] for name, one in by_probe.items()} == {"one": 4, "two": 6}
    assert verdict.measurements["per_request"] is None


def test_memory_is_told_for_each_gate_and_apart_from_what_was_asked_for(small: SmallWorkspace) -> None:
    (small.root / "model" / "weights.safetensors").write_bytes(b"x" * 1000)
    floors = [
        gate(name, "memory_floor", probes=[{"id": "talk", "prompt": "talk"}], options={"available_gib": gib})
        for name, gib in (("enough", 0.001), ("too-much", 1e6))
    ]
    made = prepared(small, *floors)
    verdicts = judged(made)
    assert (verdicts["enough"].outcome, verdicts["too-much"].outcome) == (P, Outcome.FAILED)
    assert "the floor is 1e+06 GiB" in str(verdicts["too-much"].message)
    memory = verdicts["enough"].measurements["memory"]
    assert memory["samples"] >= 2
    assert sum(memory["rank_peak_bytes"].values()) >= memory["rss_peak_bytes"] > 0
    quality = json.loads(made.run.quality("base").read_text())
    assert quality["memory"]["00"]["weight_file_bytes"] == {"target": 1000}
    assert quality["memory"]["00"]["observed"]["rss_peak_bytes"] >= memory["rss_peak_bytes"]


def test_the_first_request_of_the_ladder_is_cold_and_in_no_figure(small: SmallWorkspace) -> None:
    probe = {"id": "talk", "prompt": "talk", "samples": 3}
    small.ladder = [{**gate("speed", probes=[probe]), "required": True}]
    made = planned(small)
    verdict = judged(made)["speed"]
    assert verdict.outcome is P
    assert verdict.measurements["rates"]["talk"]["ttft"]["n"] == 2
    assert [one["sample"] for one in verdict.measurements["excluded"]["cold"]] == ["talk.0"]
    cold = [e["path"] for e in read_journal(boot_of(made.run).ledger) if e.get("cold")]
    assert [Path(path).parent.name for path in cold] == ["readiness", "speed"]


def test_points_beyond_the_window_are_told_and_the_others_are_measured(small: SmallWorkspace) -> None:
    grid = {
        "prompts": [{"id": "story", "prompt": "tell"}],
        "context_depths": [0, 5000],
        "input_tokens": 40,
        "runs": 1,
        "max_tokens": 4,
    }
    verdict = judged(prepared(small, gate("depths", grid=grid), max_model_len=300))["depths"]
    assert (verdict.outcome, verdict.cause) == (V, "exceeds_context")
    assert "story-d5000" in str(verdict.message)
    assert verdict.measurements["rates"].keys() == {"story-d0"}


def test_a_short_answers_contract_and_its_time_in_a_run(small: SmallWorkspace) -> None:
    arrivals = {"process": "poisson", "per_s": 20.0}
    probes = [
        {"id": "right", "prompt": "say yes", "samples": 3, "arrivals": arrivals},
        {"id": "wrong", "prompt": "say no"},
    ]
    made = prepared(small, gate("short", "latency", contract="says-yes", probes=probes))
    verdict = judged(made)["short"]
    assert verdict.outcome is P
    assert (verdict.measurements["contract"]["passed"], verdict.measurements["contract"]["failed"]) == (3, 1)
    assert verdict.measurements["times"]["wall_scheduled"]["n"] == 3
