"""Runs answers against tasks: borrows sandboxes, repeats what the host spoiled, writes execution records."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from armgate.errors import SandboxUnavailable
from armgate.execution.pool import Pool, Turns
from armgate.execution.preparation import (
    Generated,
    PreparationFailed,
    Prepared,
    PreparedCase,
    fixed_cases,
    generated_cases,
    new_seal,
    request_for,
)
from armgate.execution.recording import case_run
from armgate.execution.tier import TierBackend
from armgate.model.base import Digest
from armgate.model.case_kind import case_finding, starved
from armgate.model.execution import (
    B64,
    SEVERITY,
    Calibration,
    CaseRun,
    Ended,
    ExecutionRecord,
    Kind,
    Limits,
    Tier,
    recorded,
)
from armgate.model.task import LoadedTask


class Executor(Protocol):
    """What runs an answer. One executor may be used from several threads."""

    tier: Tier

    def run(self, task: LoadedTask, text: str | None, text_source: str) -> ExecutionRecord:
        """Runs every case of the task. Never raises for what an answer or its sandbox does."""
        ...

    def close(self) -> None: ...


class SandboxExecutor:
    """An Executor over one tier. `factor` scales the CPU and wall limits to this host's speed."""

    def __init__(self, backend: TierBackend, tier: Tier, factor: float, workers: int) -> None:
        self.tier = tier
        self._factor = factor
        self._pool = Pool(backend)
        self._turns = Turns(workers)
        self._prepared: dict[Digest, Prepared | PreparationFailed] = {}
        self._preparing = threading.Lock()

    def __enter__(self) -> SandboxExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._pool.close()

    def run(self, task: LoadedTask, text: str | None, text_source: str) -> ExecutionRecord:
        limits = self._limits(task)
        data = None if text is None else text.encode("utf-8", "surrogatepass")
        record = ExecutionRecord(
            task=task.task.id,
            task_digest=task.digest,
            text=None if data is None else recorded(data),
            text_source=text_source,
            planned=task.planned,
            limits=limits,
            tier=self.tier,
        )
        if data is None or isinstance(record.text, B64):
            return record  # nothing that could be a program's text
        try:
            prepared = self._prepare(task, limits)
            cases = tuple(self._cases(task, data, prepared, limits))
        except (PreparationFailed, SandboxUnavailable, OSError) as failure:
            return record.model_copy(update={"fault": str(failure)})
        return record.model_copy(update={"cases": cases, "calibration": prepared.calibration})

    def _limits(self, task: LoadedTask) -> Limits:
        declared = task.task.limits.per_case()
        scaled = {"cpu_s": declared.cpu_s * self._factor, "wall_s": declared.wall_s * self._factor}
        return declared.model_copy(update=scaled)

    def _prepare(self, task: LoadedTask, limits: Limits) -> Prepared:
        with self._preparing:
            known = self._prepared.get(task.digest)
            if known is None:
                known = self._prepare_now(task, limits)
                self._prepared[task.digest] = known
        if isinstance(known, PreparationFailed):
            raise known
        return known

    def _prepare_now(self, task: LoadedTask, limits: Limits) -> Prepared | PreparationFailed:
        fixed, calibration = fixed_cases(task), Calibration(factor=self._factor)
        if task.task.generated is None:
            return Prepared(fixed, calibration)
        made = self._generate(task, limits)
        if isinstance(made, PreparationFailed):
            made = self._generate(task, limits)  # once more: the host may have had a bad moment
        if isinstance(made, PreparationFailed):
            return made
        costs = {"reference_cpu_s": made.reference_cpu_s, "reference_wall_s": made.reference_wall_s}
        return Prepared(fixed + made.cases, calibration.model_copy(update=costs))

    def _generate(self, task: LoadedTask, limits: Limits) -> Generated | PreparationFailed:
        with self._pool.single_use(limits) as sandbox, self._turns.shared():
            try:
                return generated_cases(task, sandbox, limits)
            except PreparationFailed as failure:
                return failure

    def _cases(self, task: LoadedTask, text: bytes, prepared: Prepared, limits: Limits) -> Iterator[CaseRun]:
        for case in prepared.cases:
            run = self._case(task, text, case, limits)
            yield run
            kind = case_finding(run, task.task, task.comparison(case.name), limits).kind
            if SEVERITY[kind] >= SEVERITY[Kind.TIMEOUT]:
                return  # two hundred endless loops would say no more than one

    def _case(self, task: LoadedTask, text: bytes, case: PreparedCase, limits: Limits) -> CaseRun:
        """One case, and once more where the host or the sandbox spoiled it; both stay on record."""
        first = self._attempt(task, text, case, limits, self._turns.shared)
        if not starved(first) and first.ended is not Ended.SANDBOX_LOST:
            return first
        again = self._attempt(task, text, case, limits, self._turns.alone)
        return again.model_copy(update={"earlier": (first,), "note": "second attempt, run alone"})

    def _attempt(
        self, task: LoadedTask, text: bytes, case: PreparedCase, limits: Limits, turn: Turn
    ) -> CaseRun:
        seal, before = new_seal(), _host_oom_kills()
        with turn(), self._pool.borrowed(limits) as sandbox:
            observed = sandbox.run(request_for(task, case, text, limits, seal))
        run = case_run(case, observed, seal, whole_stdout=task.task.kind == "program")
        if run.signal is None:
            return run
        return run.model_copy(update={"host_oom_kills": _host_oom_kills() - before})


class Turn(Protocol):
    def __call__(self) -> contextlib.AbstractContextManager[None]: ...


def _host_oom_kills() -> int:
    try:
        for line in Path("/proc/vmstat").read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    except (OSError, ValueError):
        return 0
    return 0
