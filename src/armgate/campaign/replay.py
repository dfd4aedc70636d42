"""Replays recorded answers through a ready server as prompts of token ids, in a boot for teacher forcing."""

from __future__ import annotations

from collections.abc import Sequence

from armgate.campaign.evidence import REPLAY, BootEvidence
from armgate.campaign.gate import EngineGone, GateRunner
from armgate.client.send import send
from armgate.model.base import Json
from armgate.model.evidence import Sample
from armgate.model.exchange import COMPLETIONS, Fate
from armgate.model.plan import Plan, PlannedGate, Replay
from armgate.reporting.run_folder import RunFolder


def replay_body(model_id: str, prompt_ids: tuple[int, ...], answer_ids: tuple[int, ...]) -> dict[str, Json]:
    """vLLM's completion request that computes the log probability of every token of its prompt.

    One token has to be generated and is thrown away; `prompt_logprobs` are not given in a stream.
    """
    return {
        "model": model_id,
        "prompt": [*prompt_ids, *answer_ids],
        "max_tokens": 1,
        "temperature": 0.0,
        "prompt_logprobs": 1,
        "stream": False,
    }


async def replay_gate(runner: GateRunner, planned: PlannedGate, replays: Sequence[Replay]) -> None:
    """Every recorded answer of `replays` once. Stops early only where the engine has ended."""
    gate = planned.gate.id
    runner.ledger.append({"event": "gate", "gate": gate, "state": "started"})
    try:
        for replay in replays:
            for sample in _answers(runner.setting.plan, runner.setting.run, planned, replay):
                await _replay(runner, planned, replay, sample)
    except EngineGone as gone:
        runner.ledger.append({"event": "engine_died", "gate": gate, "message": str(gone)})
    runner.ledger.append({"event": "gate", "gate": gate, "state": "finished"})


def _answers(plan: Plan, run: RunFolder, planned: PlannedGate, replay: Replay) -> tuple[Sample, ...]:
    folder = run.boot(replay.arm, replay.boot)
    if not folder.record.exists():
        return ()
    return BootEvidence.read(folder, plan.arms[replay.arm]).samples(planned, "sample")


async def _replay(runner: GateRunner, planned: PlannedGate, replay: Replay, sample: Sample) -> None:
    """A sample without ids of its own cannot be replayed, and is void for that."""
    prompt_ids, answer_ids = sample.response.prompt_token_ids, sample.response.token_ids
    if not prompt_ids or not answer_ids:
        return
    gate = planned.gate.id
    stem = runner.folder.exchange(gate, f"{replay.arm}.{replay.boot:02d}.{sample.id}.{REPLAY}")
    entry = {
        "event": "exchange",
        "gate": gate,
        "probe": sample.probe.id,
        "n": sample.n,
        "attempt": 0,
        "role": REPLAY,
        "of": {"arm": replay.arm, "boot": replay.boot},
        "path": runner.folder.relative(stem) + ".jsonl",
        "context": {"prompt_tokens": len(prompt_ids)},
    }
    runner.raise_if_gone()
    runner.ledger.append(entry)
    body = replay_body(runner.model_id, prompt_ids, answer_ids)
    limits = runner.deadlines_of(planned.gate)
    exchange = await send(
        runner.http, runner.server.url, body, stem, limits, endpoint=COMPLETIONS, secrets=runner.secrets
    )
    runner.setting.progress.request_done(planned, None, exchange.clock.end_s)
    if exchange.fate is not Fate.COMPLETE:
        await runner.settled()
    runner.raise_if_gone()
