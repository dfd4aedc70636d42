"""Runs one gate on a ready boot: probes to exchanges, batch by batch, then code to execution records.

Nothing is judged here. Everything is on disk, and in the boot's ledger, before a verdict looks at it.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections.abc import Awaitable, Sequence
from pathlib import Path

from armgate.campaign.attempts import attempted
from armgate.campaign.batches import Batch, batches
from armgate.campaign.counters import CounterWatch
from armgate.campaign.counting import PromptCounter
from armgate.campaign.evidence import BootEvidence
from armgate.campaign.prompts import NotSent, Prepared, prepare_all
from armgate.campaign.setting import Setting
from armgate.client.journal import Journal
from armgate.client.sampling import request_body
from armgate.client.scrape import HttpClient
from armgate.client.secrets import Secrets
from armgate.client.send import send
from armgate.engines.failures import compiled_line
from armgate.engines.prefix_cache import reset_prefix_cache
from armgate.engines.readiness import first_token_cause
from armgate.engines.registry import ENGINES
from armgate.engines.server import Server
from armgate.errors import BootError
from armgate.model.arms import Arm, Deadlines
from armgate.model.base import Json
from armgate.model.exchange import Exchange, Fate
from armgate.model.gates import Gate, Probe
from armgate.model.plan import PlannedGate, PlannedProbe
from armgate.model.reading import read_response
from armgate.reporting.run_folder import BootFolder, write_model
from armgate.telemetry.process_memory import MemoryTrace

READINESS = "readiness"
DEATH_NOTICE_S = 3.0
STILL_LOADING_S = 0.5
"""Between first requests to a server that listens and answers 503: it may still load its model."""


class GateRunner:
    """Sends a gate's probes to one server and records what came back."""

    def __init__(
        self,
        setting: Setting,
        arm: Arm,
        folder: BootFolder,
        server: Server,
        ledger: Journal,
        http: HttpClient,
        memory: MemoryTrace,
    ) -> None:
        self.setting, self.arm, self.folder = setting, arm, folder
        self.server, self.ledger, self.http, self.memory = server, ledger, http, memory
        self.counters = CounterWatch(http, server.url, folder, ledger)
        self.refused = ENGINES[arm.engine].refused_parameters(arm)
        self.model_id = setting.model_id(arm)
        self.window: int | None = None
        """Tokens of context that the server says it serves."""
        self.template_tokens: dict[str | None, int] = {}
        """By system prompt: what the chat template adds to every prompt, counted once."""
        self.counter: PromptCounter | None = None
        self.readiness_messages = ({"role": "user", "content": "Say one word."},)
        self.readiness_tokens: int | None = None
        """Prompt tokens that the server reported for the readiness messages."""
        self.warm = server.attached
        """Whether a request of the ladder has been sent; the first one after a boot of ours is cold."""

    async def first_token(self) -> str | None:
        """One real token, recorded like every exchange, and the answer's fingerprint; else BootError."""
        probe = Probe(id="first-token", prompt="Say one word.", max_tokens=1)
        gate = Gate(id=READINESS, check="responds", required=True, why="readiness", probes=(probe,))
        prepared = Prepared(self.readiness_messages, 1, {})
        until = time.monotonic() + self.arm.deadlines.ready_s
        for n in itertools.count():
            stem = self._entered(gate, probe, n, "readiness", 0, prepared.context)
            exchange = await self._send(gate, probe, prepared, stem)
            if exchange.status != 503 or self.server.ended.is_set() or time.monotonic() > until:
                break
            await asyncio.sleep(STILL_LOADING_S)
        response = read_response(exchange)
        if exchange.status != 200 or response.errors or not (response.content or response.reasoning):
            said = response.errors[0].message if response.errors else exchange.error or exchange.body[:200]
            raise BootError(first_token_cause(str(said)), f"HTTP {exchange.status}: {said!r}")
        self.readiness_tokens = response.usage.prompt_tokens if response.usage is not None else None
        return response.system_fingerprint

    async def run(self, planned: PlannedGate) -> None:
        """All requests of a gate, then its executions. Stops early only where the engine has ended."""
        gate = planned.gate
        await self._mark(gate.id, "started")
        try:
            if not await self._emptied(gate):
                return
            async with self.counters.gate(gate.id):
                for spec in planned.probes:
                    await self._sent_or_told(planned, spec)
                    if len(planned.probes) > 1:
                        await self.counters.after_probe(spec.id)
            if gate.task is not None:
                await self._execute(planned)
        except EngineGone as gone:
            self.ledger.append({"event": "engine_died", "gate": gate.id, "message": str(gone)})
        await self._mark(gate.id, "finished")

    async def _emptied(self, gate: Gate) -> bool:
        """Whether the prefix cache is empty where the arm wants it so; the gate is not sent otherwise."""
        if not self.arm.reset_prefix_cache:
            return True
        path = ENGINES[self.arm.engine].reset
        fault = await reset_prefix_cache(self.http, self.server.url, path)
        self.ledger.append({"event": "prefix_cache_reset", "gate": gate.id, "fault": fault})
        if fault is not None:
            cause = "prefix_cache_not_reset"
            entry = {"event": "not_sent", "gate": gate.id, "because_of": cause, "message": fault}
            self.ledger.append(entry)
        return fault is None

    async def _mark(self, gate: str, state: str) -> None:
        """Where a gate begins and ends in the log and in the memory trace, which has a reading at both ends.

        Places are told in bytes: whatever the instants say, what was written by then is told exactly.
        """
        before = _size(self.memory.path)
        await self.memory.read()
        memory_bytes = before if state == "started" else _size(self.memory.path)
        sizes = {"log_bytes": _size(self.server.log), "memory_bytes": memory_bytes}
        self.ledger.append({"event": "gate", "gate": gate, "state": state, "at_s": time.monotonic(), **sizes})

    def raise_if_dead(self) -> None:
        if self.server.ended.is_set():
            raise self.server.death()

    async def _sent_or_told(self, planned: PlannedGate, spec: PlannedProbe) -> None:
        """Send a probe, or enter why it cannot be sent; the gate's other probes may still be."""
        try:
            await self._probe(planned, spec)
        except NotSent as reason:
            entry = {"event": "not_sent", "gate": planned.gate.id, "probe": spec.id}
            self.ledger.append(entry | {"because_of": reason.because_of, "message": str(reason)})

    async def _probe(self, planned: PlannedGate, spec: PlannedProbe) -> None:
        probe = next(probe for probe in planned.gate.probes if probe.id == spec.id)
        repeats = planned.compares and planned.reference_of(self.arm) == self.arm.name
        for number, batch in enumerate(batches(probe, repeats)):
            prepared = await prepare_all(self, planned.gate.id, spec, probe, batch.role, batch.numbers)
            await self._batch(planned, probe, batch, number, prepared)

    async def _batch(
        self, planned: PlannedGate, probe: Probe, batch: Batch, number: int, prepared: Sequence[Prepared]
    ) -> None:
        """Release one batch and wait until every request of it is on disk.

        The ledger is written before the release, as its disk would otherwise delay the later requests.
        """
        self.raise_if_gone()
        stems = [
            self._entered(planned.gate, probe, n, batch.role, number, one.context)
            for n, one in zip(batch.numbers, prepared, strict=True)
        ]
        released = time.monotonic()
        requests = [
            self._request(planned, probe, one, stem, released + offset_s)
            for one, stem, offset_s in zip(prepared, stems, batch.offsets_s, strict=True)
        ]
        ended = await asyncio.gather(*requests, return_exceptions=True)
        for one in ended:
            if isinstance(one, BaseException):
                raise one
        if any(one is not Fate.COMPLETE for one in ended):
            await self.settled()
        self.raise_if_gone()

    async def _request(
        self, planned: PlannedGate, probe: Probe, prepared: Prepared, stem: Path, due: float
    ) -> Fate:
        await asyncio.sleep(max(due - time.monotonic(), 0.0))
        self.setting.progress.request_started(planned, stem.name)
        logged = _size(self.server.log)

        def sent(to: Path) -> Awaitable[Exchange]:
            return self._send(planned.gate, probe, prepared, to, due)

        retries, ended = planned.gate.retries, self.server.ended
        exchange = await attempted(sent, stem, retries, self.folder, self.ledger, ended)
        self._note_compilation(planned.gate, stem, logged)
        # Reading an answer takes time that the arrival stamps of its neighbours would pay for.
        alone = probe.concurrency == 1 and probe.arrivals is None
        usage = read_response(exchange).usage if alone else None
        tokens = usage.completion_tokens if usage is not None else None
        self.setting.progress.request_done(planned, tokens, exchange.clock.end_s)
        self.counters.answered += exchange.fate is Fate.COMPLETE and exchange.status == 200
        return exchange.fate

    def _note_compilation(self, gate: Gate, stem: Path, logged: int) -> None:
        """Enter that the engine compiled something while a request was under way: it, or one beside it."""
        line = compiled_line(self.server.log_text(logged))
        if line is not None:
            path = self.folder.relative(stem) + ".jsonl"
            self.ledger.append({"event": "compiled", "gate": gate.id, "path": path, "line": line})

    def raise_if_gone(self) -> None:
        if self.server.ended.is_set():
            raise EngineGone(f"exit code {self.server.exit_code}")

    async def settled(self) -> None:
        """A connection breaks before the process that held it is known to be dead: give that word time."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.server.ended.wait(), DEATH_NOTICE_S)

    def _entered(
        self, gate: Gate, probe: Probe, n: int, role: str, batch: int, context: dict[str, Json]
    ) -> Path:
        """Enter one request into the ledger; the stem of the file that it will be recorded in."""
        stem = self.folder.exchange(gate.id, f"{probe.id}.{n}" + ("" if role == "sample" else f".{role}"))
        entry: dict[str, Json] = {
            "event": "exchange",
            "gate": gate.id,
            "probe": probe.id,
            "n": n,
            "attempt": 0,
            "role": role,
            "batch": batch,
            "path": self.folder.relative(stem) + ".jsonl",
            "context": context,
        }
        cold = not self.warm
        self.warm = self.warm or gate.id != READINESS
        self.ledger.append(entry | {"cold": True} if cold else entry)
        return stem

    async def _send(
        self, gate: Gate, probe: Probe, prepared: Prepared, stem: Path, due: float | None = None
    ) -> Exchange:
        body = request_body(
            self.arm, gate, probe, prepared.messages, self.model_id, prepared.max_tokens, self.refused
        )
        deadlines = self.deadlines_of(gate)
        return await send(
            self.http, self.server.url, body, stem, deadlines, secrets=self.secrets, scheduled_at=due
        )

    @property
    def secrets(self) -> Secrets:
        return Secrets({"api_key": self.server.api_key} if self.server.api_key else {})

    def deadlines_of(self, gate: Gate) -> Deadlines:
        """The arm's deadlines; a gate's own ends a request no later than it says."""
        deadlines = self.arm.deadlines
        if gate.deadline_s is None:
            return deadlines
        return deadlines.model_copy(update={"request_s": min(deadlines.request_s, gate.deadline_s)})

    async def _execute(self, planned: PlannedGate) -> None:
        """Run the text of every sound sample in the sandbox and keep the record before anyone compares."""
        boot = BootEvidence.read(self.folder, self.arm)
        for sample in boot.samples(planned, "sample"):
            if sample.void is not None:
                continue
            self.setting.progress.note(f"running the answer to {sample.probe.id} in the sandbox")
            task = self.setting.plan.tasks[planned.gate.task or ""]
            record = await asyncio.to_thread(self.setting.sandboxes.run, planned.gate, task, sample)
            path = self.folder.execution(planned.gate.id, sample.id)
            write_model(path, record)
            self.ledger.append(
                {
                    "event": "execution",
                    "gate": planned.gate.id,
                    "sample": sample.id,
                    "path": self.folder.relative(path),
                }
            )


def _size(path: Path | None) -> int:
    return path.stat().st_size if path is not None and path.exists() else 0


class EngineGone(Exception):  # noqa: N818 - a fact about the server that ends the gate, not a fault of ours
    """The engine ended while a gate was running."""
