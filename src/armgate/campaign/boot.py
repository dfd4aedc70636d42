"""One boot of one arm, from pins to the last trace of its processes: the steps of the design's flow."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime

from armgate.campaign.commands import launch_of, offered_id
from armgate.campaign.gate import GateRunner
from armgate.campaign.judge import BootJudge, Verdicts
from armgate.campaign.progress import Progress
from armgate.campaign.replay import replay_gate
from armgate.campaign.returned_memory import memory_returned
from armgate.campaign.setting import Setting, TimeLimit
from armgate.client.journal import Journal
from armgate.client.transport import open_client
from armgate.engines.failures import draft_refused
from armgate.engines.hardware import hardware
from armgate.engines.launchers.protocol import Launch, Launcher, pin_roles
from armgate.engines.launchers.registry import LAUNCHERS
from armgate.engines.memory_floor import memory_floor
from armgate.engines.readiness import Listening, wait_until_listening
from armgate.engines.registry import ENGINES
from armgate.engines.revisions import refuse_other_revisions
from armgate.engines.server import Server
from armgate.engines.weights import weight_file_bytes
from armgate.errors import BootError
from armgate.model.arms import ContainerLauncher
from armgate.model.base import Json
from armgate.model.boots import BootRecord, BootState
from armgate.model.gates import IDENTITY
from armgate.model.outcome import Outcome, Verdict
from armgate.model.pins import DirectoryPin, HfPin
from armgate.model.plan import PlannedBoot
from armgate.model.windows import limits_in_log, smallest_limit
from armgate.reporting.run_folder import write_model
from armgate.telemetry.nvml import Nvml
from armgate.telemetry.process_memory import MemoryTrace, no_gpus

MEMORY_INTERVAL_S = 0.5


class BootRun:
    """Runs the ladder on one boot. Whatever happens, every planned gate ends with one verdict on disk."""

    def __init__(self, setting: Setting, boot: PlannedBoot) -> None:
        self.setting, self.boot = setting, boot
        self.plan, self.progress = setting.plan, setting.progress
        self.arm = self.plan.arms[boot.arm]
        self.engine = ENGINES[self.arm.engine]
        self.folder = setting.run.boot(boot.arm, boot.boot)
        self.judge = BootJudge(setting.run, self.plan, boot)
        self.verdicts: Verdicts = {}
        self.started_s = time.monotonic()
        self.nvml = Nvml.open()
        self.record = BootRecord(
            arm=boot.arm,
            boot=boot.boot,
            purpose=boot.purpose,
            state=BootState.STARTING,
            engine=self.arm.engine,
            launcher=self.arm.launcher.kind,
            requested=self.arm.serve,
            own_depth=self.engine.own_depth(self.arm),
        )

    async def run(self) -> None:
        self.folder.create()
        self._update(started_utc=datetime.now(UTC).isoformat(timespec="seconds"), hardware=self._hardware())
        self.progress.boot_started(self.boot)
        message = None
        limit = self._limit()
        try:
            async with asyncio.timeout_at(limit.at) as timer:
                await self._serve()
        except TimeoutError:
            if not timer.expired():
                raise
            message = limit.message
            self._cut_off(limit.state(self.record.was_ready), limit.cause, limit.message)
        except BootError as error:
            message = f"{error.cause}: {error}"
            state = BootState.DIED if self.record.was_ready else BootState.FAILED
            facts = self.record.log_facts | error.values
            self._update(state=state, cause=error.cause, message=str(error), log_facts=facts)
        except asyncio.CancelledError:
            message = "interrupted"
            self._cut_off(BootState.INTERRUPTED, "interrupted", "interrupted by the user")
            raise
        finally:
            self._finish()
            self.progress.boot_ended(self.boot, message)

    def _limit(self) -> TimeLimit:
        """The nearer of the boot's own deadline and the campaign's."""
        seconds = self.arm.deadlines.boot_s
        own = TimeLimit(
            self.started_s + seconds, "boot_deadline", f"the boot was not done within {seconds:g} s"
        )
        whole = self.setting.limit
        return own if whole is None or own.at <= whole.at else whole

    def _cut_off(self, state: BootState, cause: str, message: str) -> None:
        with Journal(self.folder.ledger) as ledger:
            ledger.append({"event": "cut_off", "because_of": cause, "message": message})
        self._update(state=state, cause=cause, message=message)

    def _hardware(self) -> dict[str, Json]:
        nodes = self.arm.launcher.nodes if isinstance(self.arm.launcher, ContainerLauncher) else 1
        return hardware(self.nvml.state() if self.nvml is not None else None, nodes)

    def _update(self, **changes: object) -> None:
        self.record = self.record.model_copy(update=changes)
        write_model(self.folder.record, self.record)

    def _finish(self) -> None:
        """Give every gate without a verdict the one that its evidence carries, then what the boot voids.

        `total_s` comes last: a boot without it is not finished, and is booted again on resuming.
        """
        if IDENTITY not in self.verdicts:
            self._put(self.judge.identity(self.record))
        for planned in self.plan.gates_of(self.boot):
            if planned.gate.id not in self.verdicts:
                self._put(self.judge.gate(planned, self.record, self.verdicts))
        for verdict in self.judge.boot_voids(self.verdicts).values():
            self._put(verdict)
        self._update(total_s=round(time.monotonic() - self.started_s, 3))

    def _put(self, verdict: Verdict) -> None:
        with Journal(self.folder.verdicts) as journal:
            journal.append(verdict.model_dump(mode="json"))
        self.verdicts[verdict.gate] = verdict
        self.progress.gate_done(verdict)

    async def _serve(self) -> None:
        launcher = LAUNCHERS[self.arm.launcher.kind]
        launch = launch_of(self.setting, self.boot, self.folder.log)
        await self._check_pins(launcher, launch)
        async with self._server(launcher, launch) as (server, memory):
            await self._ladder(server, memory)
        self._update(state=BootState.STOPPED)

    async def _check_pins(self, launcher: Launcher, launch: Launch) -> None:
        self.progress.note("checking pins")
        seen = await launcher.observe(launch)
        self._update(pins=seen.pins, versions=seen.versions, weight_file_bytes=self._weights())
        self._put(self.judge.identity(self.record))
        if self.verdicts[IDENTITY].outcome is not Outcome.PASSED:
            raise BootError("pin_drift", self.verdicts[IDENTITY].message or "a pin differs")

    def _weights(self) -> dict[str, int]:
        """Of the models that lie in a local folder."""
        named = [(role, self.plan.pins[name]) for role, name in pin_roles(self.arm)]
        folders = {r: self.setting.workspace.root / p.dir for r, p in named if isinstance(p, DirectoryPin)}
        return {role: weight_file_bytes(folder) for role, folder in folders.items()}

    @contextlib.asynccontextmanager
    async def _server(self, launcher: Launcher, launch: Launch) -> AsyncIterator[tuple[Server, MemoryTrace]]:
        trace = self.folder.telemetry / "memory.jsonl"
        server: Server | None = None
        gpus = self.nvml.memory if self.nvml is not None else no_gpus
        before = gpus()
        try:
            async with launcher.serving(launch) as server:
                self._update(argv=server.argv, environment=server.environment, notes=server.notes)
                for note in server.notes:
                    self.progress.note(note)
                async with (
                    memory_floor(server, self.arm.memory_floor_mib * 2**20),
                    MemoryTrace(server.pid, trace, MEMORY_INTERVAL_S, gpus) as memory,
                ):
                    yield server, memory
        finally:
            if server is not None:
                kept = (
                    [] if server.attached else await memory_returned(before, gpus, self.arm.deadlines.stop_s)
                )
                for note in kept:
                    self.progress.note(note)
                self._update(exit_code=server.exit_code, notes=(*self.record.notes, *kept))

    async def _ladder(self, server: Server, memory: MemoryTrace) -> None:
        target = self.plan.pins[self.arm.target]
        listening = await wait_until_listening(
            server,
            self.engine,
            offered_id(self.plan, self.arm),
            self.arm.deadlines,
            self.progress.note,
            target.hf if server.attached and isinstance(target, HfPin) else None,
        )
        async with open_client(server.api_key) as http:
            with Journal(self.folder.ledger) as ledger:
                gates = GateRunner(self.setting, self.arm, self.folder, server, ledger, http, memory)
                gates.model_id = listening.model_id
                fingerprint = await gates.first_token()
                self._ready(server, listening, fingerprint)
                limit = smallest_limit(self.record.resolved, self.record.log_facts)
                gates.window = limit.tokens if limit is not None else None
                await self._climb(gates)

    def _ready(self, server: Server, listening: Listening, fingerprint: str | None) -> None:
        ready_s = round(time.monotonic() - self.started_s, 3)
        reported = {"server": listening.version, "system_fingerprint": fingerprint}
        log = server.log_text()
        facts = limits_in_log(log) | self.engine.log_facts(log)
        refuse_other_revisions(self._revisions(), facts)
        if self.arm.speculative is not None and (line := draft_refused(log)) is not None:
            facts["draft_refused"] = line
        self._update(
            state=BootState.READY,
            ready_s=ready_s,
            resolved=listening.resolved,
            versions=self.record.versions | {key: value for key, value in reported.items() if value},
            log_facts=facts,
        )
        self.progress.boot_ready(ready_s)

    def _revisions(self) -> dict[str, str]:
        """Pinned commits under the names of the engine's settings; a tokenizer of no pin is the target's."""
        named = {"revision": self.arm.target, "tokenizer_revision": self.arm.tokenizer or self.arm.target}
        pins = {setting: self.plan.pins[name] for setting, name in named.items()}
        return {setting: pin.revision for setting, pin in pins.items() if isinstance(pin, HfPin)}

    async def _climb(self, gates: GateRunner) -> None:
        for planned in self.plan.gates_of(self.boot):
            skip = self.judge.skip(planned, self.verdicts)
            if skip is not None:
                self._put(skip)
                continue
            self.progress.gate_started(planned)
            if self.boot.climbs:
                await gates.run(planned)
            else:
                replays = self.plan.replays(self.boot.arm)
                await replay_gate(gates, planned, [one for one in replays if one.gate == planned.gate.id])
            self._put(self.judge.gate(planned, self.record, self.verdicts))
            gates.raise_if_dead()


def record_not_started(setting: Setting, boot: PlannedBoot, cause: str, message: str) -> None:
    """Leave a boot that was planned and never begun on file, with a verdict for each of its gates."""
    run = BootRun(dataclasses.replace(setting, progress=Progress()), boot)
    run.folder.create()
    run._update(state=BootState.NOT_STARTED, cause=cause, message=message)
    run._finish()
