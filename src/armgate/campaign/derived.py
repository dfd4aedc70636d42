"""Derived files of a run, from its folder alone: quality records, comparison. A run and `judge` share it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence

from armgate.campaign.comparison import comparison, comparison_bytes
from armgate.campaign.evidence import boot_record
from armgate.client.journal import read_journal
from armgate.errors import RecordError
from armgate.judging.memory import configured, summarise_memory
from armgate.model.arms import Arm
from armgate.model.base import Json, digest_json
from armgate.model.boots import BootRecord
from armgate.model.comparison import Comparison
from armgate.model.memory import BootMemory
from armgate.model.outcome import Outcome, Verdict, campaign_exit_code
from armgate.model.plan import Plan, PlanFile, PlannedBoot
from armgate.model.quality import QualityRecord
from armgate.reporting.quality import quality_record
from armgate.reporting.run_folder import BootFolder, RunFolder, write_atomically, write_model
from armgate.telemetry.process_memory import load_trace

BootVerdicts = tuple[BootRecord, Mapping[str, Verdict]]


@dataclasses.dataclass(frozen=True)
class RunResult:
    """Records of the arms that were begun, and the campaign's exit code."""

    records: Mapping[str, QualityRecord]
    exit_code: int
    comparison: Comparison | None = None


def read_plan(run: RunFolder) -> PlanFile:
    """The plan as it was written. Its digest is of what stands in the file, so that a run keeps it when a
    later version's plans have fields more."""
    try:
        data = run.plan.read_bytes()
        plan = PlanFile.model_validate_json(data)
    except (OSError, ValueError) as error:
        raise RecordError(f"{run.plan} is no plan of a run: {error}") from None
    if digest_json(json.loads(data)["plan"]) != plan.digest:
        raise RecordError(f"{run.plan}: the plan does not match its own digest; it has been changed")
    return plan


def recorded_verdicts(folder: BootFolder) -> dict[str, Verdict]:
    """Verdicts as written. A later line counts where it says what it revises; RecordError names two that
    contradict each other, of which neither can be believed."""
    found: dict[str, Verdict] = {}
    for number, line in enumerate(read_journal(folder.verdicts), start=1):
        try:
            verdict = Verdict.model_validate(line, strict=False)
        except ValueError as error:
            raise RecordError(f"{folder.verdicts}:{number}: {error}") from None
        before = found.get(verdict.gate)
        if before not in (None, verdict) and verdict.revises is not before.outcome:
            said = f"{before.outcome}, then {verdict.outcome}, and the second revises nothing"
            raise RecordError(f"{folder.verdicts}:{number}: conflict: gate {verdict.gate!r} is {said}")
        found[verdict.gate] = verdict
    return found


def boots_begun(run: RunFolder, plan: Plan) -> list[PlannedBoot]:
    planned = [boot for boot in plan.boots if run.boot(boot.arm, boot.boot).record.exists()]
    return [*planned, *final_boots(run, plan)]


def final_boots(run: RunFolder, plan: Plan) -> list[PlannedBoot]:
    """The final boot that was begun, if one was; which arm it is of was decided by the run itself."""
    possible = [plan.final_boot(name) for name, arm in plan.arms.items() if arm.boots.final]
    return [boot for boot in possible if run.boot(boot.arm, boot.boot).record.exists()]


def was_interrupted(run: RunFolder, boots: Sequence[PlannedBoot]) -> bool:
    return any(boot_record(run.boot(b.arm, b.boot)).cause == "interrupted" for b in boots)


def quality_records(
    run: RunFolder, plan: Plan, digest: str, verdicts: Mapping[tuple[str, int], Mapping[str, Verdict]]
) -> dict[str, QualityRecord]:
    """One record per begun arm, from given verdicts and the boots' own records."""
    records = {}
    calibration = read_plan(run).calibration
    for name, arm in plan.arms.items():
        numbers = sorted(number for arm_name, number in verdicts if arm_name == name)
        boots: dict[int, BootVerdicts] = {
            number: (boot_record(run.boot(name, number)), verdicts[name, number]) for number in numbers
        }
        if boots:
            memory = {f"{n:02d}": _memory(run.boot(name, n), arm, boots[n][0]) for n in numbers}
            records[name] = quality_record(plan, digest, arm, boots, memory, calibration)
    return records


def _memory(folder: BootFolder, arm: Arm, record: BootRecord) -> Json:
    memory = BootMemory(
        observed=summarise_memory(load_trace(memory_lines(folder))),
        configured=configured(arm),
        weight_file_bytes=record.weight_file_bytes,
    )
    return memory.model_dump(mode="json", exclude_none=True)


def memory_lines(folder: BootFolder) -> list[str]:
    path = folder.telemetry / "memory.jsonl"
    return path.read_text("utf-8").splitlines() if path.exists() else []


def exit_code(records: Mapping[str, QualityRecord], interrupted: bool) -> int:
    """The campaign's code; 5 where every gate of every arm was skipped by selection or condition."""
    executed = any(
        verdict.outcome is not Outcome.SKIPPED
        for record in records.values()
        for gate in record.gates
        for verdict in gate.verdicts.values()
    )
    never_ready = any(record.exit_code == 4 for record in records.values())
    if not interrupted and not executed and not never_ready:
        return 5
    return campaign_exit_code((record.exit_code for record in records.values()), interrupted)


def write_derived(run: RunFolder, plan: Plan, boots: Sequence[PlannedBoot], interrupted: bool) -> RunResult:
    """Write what follows from the evidence: quality records and the comparison."""
    verdicts = {(b.arm, b.boot): recorded_verdicts(run.boot(b.arm, b.boot)) for b in boots}
    records = quality_records(run, plan, plan.digest(), verdicts)
    for name, record in records.items():
        write_model(run.quality(name), record)
    made = comparison(plan, records)
    write_atomically(run.comparison, comparison_bytes(plan, made))
    return RunResult(records, exit_code(records, interrupted), made)
