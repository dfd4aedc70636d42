"""Reads what a boot recorded back from its folder: the only thing that verdicts are made from."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from armgate.client.journal import read_journal
from armgate.client.recorder import recording_at
from armgate.client.sampling import sampling_of
from armgate.engines.registry import ENGINES
from armgate.errors import DeclarationError, RecordError
from armgate.model.arms import Arm
from armgate.model.base import Json
from armgate.model.boots import BootRecord
from armgate.model.evidence import CounterReading, Counters, GateEvidence, Sample, Surroundings
from armgate.model.exchange import Exchange
from armgate.model.exchange_form import parse_exchange
from armgate.model.execution import ExecutionRecord
from armgate.model.gates import Probe
from armgate.model.haystack import CountCheck
from armgate.model.memory import MemorySample
from armgate.model.plan import Plan, PlannedGate
from armgate.model.reading import read_response
from armgate.model.retries import Attempt
from armgate.model.soundness import Asked, void_of
from armgate.model.teacher_forcing import ReplayedAnswer
from armgate.reporting.run_folder import BootFolder
from armgate.telemetry.counter_trace import load_counter_trace
from armgate.telemetry.metrics import parse_counters, unreachable
from armgate.telemetry.process_memory import load_trace

Entry = dict[str, Json]
REPLAY = "replay"
"""The role of an exchange that replays an answer of another boot."""


@dataclasses.dataclass(frozen=True)
class BootEvidence:
    """One boot's folder with its ledger read; exchanges are read gate by gate."""

    folder: BootFolder
    arm: Arm
    ledger: tuple[Entry, ...]

    @classmethod
    def read(cls, folder: BootFolder, arm: Arm) -> BootEvidence:
        return cls(folder, arm, tuple(read_journal(folder.ledger)))

    def events(self, kind: str, **wanted: Json) -> list[Entry]:
        return [
            entry
            for entry in self.ledger
            if entry["event"] == kind and all(entry.get(key) == value for key, value in wanted.items())
        ]

    def started(self, gate: str) -> bool:
        return bool(self.events("gate", gate=gate, state="started"))

    def not_sent(self, gate: str) -> tuple[str, str]:
        """(condition, message) of a gate without a single exchange."""
        for entry in self.events("not_sent", gate=gate):
            return str(entry["because_of"]), str(entry["message"])
        for entry in reversed(self.ledger):
            if entry["event"] == "cut_off":
                return str(entry["because_of"]), str(entry["message"])
            if entry["event"] == "engine_died":
                return "engine_died", str(entry["message"])
        return "run_ended", "the run ended before this gate"

    def samples(self, planned: PlannedGate, role: str) -> tuple[Sample, ...]:
        """The judged attempts of a gate's probes in one role: `sample`, `warm_up` or `repeat`."""
        entries = self.events("exchange", gate=planned.gate.id, role=role, attempt=0)
        read = (self._sample(planned, entry) for entry in entries)
        return tuple(sample for sample in read if sample is not None)

    def replays(self, gate: str, arm: str, boot: int, seen_from: BootFolder) -> tuple[ReplayedAnswer, ...]:
        """Replays of one gate's answers in one boot; their paths as `seen_from` names them."""
        entries = self.events("exchange", gate=gate, role=REPLAY, of={"arm": arm, "boot": boot})
        files = [(entry, recording_at(self.folder.root / str(entry["path"]))) for entry in entries]
        return tuple(
            ReplayedAnswer(
                sample=f"{entry['probe']}.{entry['n']}",
                path=Path(os.path.relpath(file, seen_from.root)).as_posix(),
                prompt_tokens=int(entry["context"]["prompt_tokens"]),
                exchange=recorded(file),
            )
            for entry, file in files
            if file is not None
        )

    def _sample(self, planned: PlannedGate, entry: Entry) -> Sample | None:
        retries = planned.gate.retries
        again = self.events("exchange_again", of=entry["path"]) if retries is not None else []
        paths = [str(one["path"]) for one in (entry, *again)]
        files = [file for path in paths if (file := recording_at(self.folder.root / path)) is not None]
        if not files:
            return None
        made = [recorded(file) for file in files]
        judged = -1 if retries is not None and retries.counts == "last" else 0
        file, exchange = files[judged], made[judged]
        response = read_response(exchange)
        sample_id = f"{entry['probe']}.{entry['n']}"
        execution_path = next(
            (str(e["path"]) for e in self.events("execution", gate=planned.gate.id, sample=sample_id)), None
        )
        return Sample(
            id=sample_id,
            probe=probe_of(planned, str(entry["probe"])),
            n=int(entry["n"]),
            path=self.folder.relative(file),
            exchange=exchange,
            response=response,
            void=void_of(exchange, response, self._asked(planned, entry)),
            context=dict(entry.get("context") or {}),
            attempts=tuple(
                Attempt(path=self.folder.relative(path), status=one.status, fate=one.fate)
                for path, one in zip(files, made, strict=True)
                if retries is not None
            ),
            batch=entry.get("batch"),
            cold=bool(entry.get("cold")),
            compiled=next((str(e["line"]) for e in self.events("compiled", path=entry["path"])), None),
            execution=self._execution(execution_path) if execution_path else None,
            execution_path=execution_path,
        )

    def _asked(self, planned: PlannedGate, entry: Entry) -> Asked:
        """What this exchange was to be, by the plan; not by the request that was recorded."""
        sampling = sampling_of(self.arm, probe_of(planned, str(entry["probe"])))
        sent = {key: value for key, value in sampling.model_dump().items() if value is not None}
        probe = probe_of(planned, str(entry["probe"]))
        context = entry.get("context") or {}
        warming = entry["role"] == "warm_up"
        refused = ENGINES[self.arm.engine].refused_parameters(self.arm)
        return Asked(
            thinking=self.arm.thinking,
            sampling={key: value for key, value in sent.items() if key not in refused},
            window_tokens=self.arm.window_tokens,
            prompt_tokens=context.get("prompt_tokens"),
            least_served=_least_served(context),
            fresh_prefix=bool(planned.gate.options.get("fresh_prefix", False))
            or _is_fresh(probe, int(entry["n"])),
            warm_prefix=probe.prefix is not None and probe.prefix.cache == "warm" and not warming,
            template_tokens=int(context.get("template_tokens") or 0),
        )

    def _execution(self, path: str) -> ExecutionRecord | None:
        file = self.folder.root / path
        return ExecutionRecord.model_validate_json(file.read_bytes()) if file.exists() else None

    def counters(self, gate: str | None, when: str) -> Counters | None:
        """The counters around a gate; without one, the boot's first `before` or last `after`."""
        wanted: dict[str, Any] = {"when": when} if gate is None else {"when": when, "gate": gate}
        entries = self.events("counters", **wanted)
        if not entries:
            return None
        return self._counters(entries[0] if when == "before" else entries[-1])

    def _counters(self, entry: Entry) -> Counters:
        if "path" not in entry:
            return unreachable(float(entry["at_s"]), str(entry["error"]))
        text = _text(self.folder.root / str(entry["path"]))
        return parse_counters(text, float(entry["at_s"]), int(entry["status"]))

    def surroundings(self, planned: PlannedGate) -> Surroundings:
        """What was read around and during a gate besides its own exchanges."""
        gate = planned.gate.id
        marks = {str(e["state"]): e for e in self.events("gate", gate=gate) if "at_s" in e}
        started, finished = marks.get("started"), marks.get("finished")
        return Surroundings(
            first=self.counters(None, "before"),
            previous=self._previous(gate),
            during=tuple(self._during(gate)),
            log_lines=self._log(started, finished),
            memory=self._memory(finished),
            memory_before=len(self._memory(started)),
        )

    def _previous(self, gate: str) -> Counters | None:
        """The last counters of the gate before this one."""
        last: Entry | None = None
        for entry in self.events("counters"):
            if entry["gate"] == gate:
                break
            last = entry if entry["when"] == "after" else last
        return self._counters(last) if last is not None else None

    def _during(self, gate: str) -> Iterator[CounterReading]:
        path = self.folder.telemetry / f"{gate}.during.jsonl"
        return load_counter_trace(_text(path).splitlines()) if path.exists() else iter(())

    def _log(self, started: Entry | None, finished: Entry | None) -> tuple[str, ...]:
        if started is None or finished is None or not self.folder.log.exists():
            return ()
        with self.folder.log.open("rb") as log:
            log.seek(int(started["log_bytes"]))
            gained = log.read(int(finished["log_bytes"]) - int(started["log_bytes"]))
        return tuple(gained.decode("utf-8", "replace").splitlines())

    def _memory(self, mark: Entry | None) -> tuple[MemorySample, ...]:
        """Readings from the boot's start to a gate's beginning or end, which the ledger marks in bytes."""
        path = self.folder.telemetry / "memory.jsonl"
        if mark is None or not path.exists():
            return ()
        until = path.read_bytes()[: int(mark["memory_bytes"])]
        return tuple(load_trace(until.decode("utf-8").splitlines()))


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}") from None


def _least_served(context: Entry) -> int | None:
    counted, check = context.get("prompt_tokens"), context.get("count_check")
    if counted is None or check is None:
        return counted
    return CountCheck.model_validate(check).least_served(counted)


def _is_fresh(probe: Probe, n: int) -> bool:
    """Whether no prompt token may come from a cache, besides the template's own.

    The first sample of a haystack with a fresh prefix has never been sent; its repeats measure caching.
    """
    if probe.prefix is not None:
        return probe.prefix.cache == "fresh"
    return probe.haystack is not None and probe.haystack.fresh_prefix and n == 0


def recorded(file: Path) -> Exchange:
    """A recording that someone changed is a damaged record, not a file that a user wrote wrongly."""
    try:
        return parse_exchange(file.read_bytes(), file)
    except (OSError, DeclarationError) as error:
        raise RecordError(f"damaged recording: {error}") from None


def probe_of(planned: PlannedGate, probe_id: str) -> Probe:
    return next(probe for probe in planned.gate.probes if probe.id == probe_id)


def gate_evidence(
    plan: Plan,
    planned: PlannedGate,
    boot: BootEvidence,
    reference: BootEvidence | None,
    rebooted: Sequence[BootEvidence] = (),
) -> GateEvidence:
    """All that `planned`'s verdict in this boot may rest on."""
    died = boot.events("engine_died", gate=planned.gate.id)
    own_reference = planned.reference_of(boot.arm)
    return GateEvidence(
        gate=planned.gate,
        family=planned.family,
        arm=boot.arm,
        samples=boot.samples(planned, "sample"),
        warm_ups=boot.samples(planned, "warm_up"),
        reference_arm=own_reference,
        reference_samples=_reference_samples(planned, boot, reference, own_reference),
        control_samples=reference.samples(planned, "repeat") or None if reference is not None else None,
        repeats=boot.samples(planned, "repeat"),
        rebooted_samples=tuple(other.samples(planned, "sample") for other in rebooted),
        counters_before=boot.counters(planned.gate.id, "before"),
        counters_after=boot.counters(planned.gate.id, "after"),
        not_sent={
            str(entry["probe"]): str(entry["because_of"])
            for entry in boot.events("not_sent", gate=planned.gate.id)
        },
        engine_died=str(died[0].get("message", "ended")) if died else None,
        planned_samples=planned.samples,
        surroundings=boot.surroundings(planned),
    )


def _reference_samples(
    planned: PlannedGate, boot: BootEvidence, reference: BootEvidence | None, name: str
) -> tuple[Sample, ...] | None:
    if boot.arm.name == name:
        return boot.samples(planned, "repeat") or None
    return reference.samples(planned, "sample") if reference is not None else None


def boot_record(folder: BootFolder) -> BootRecord:
    try:
        return BootRecord.model_validate_json(folder.record.read_bytes())
    except (OSError, ValueError) as error:
        raise RecordError(f"{folder.record} cannot be read: {error}") from None
