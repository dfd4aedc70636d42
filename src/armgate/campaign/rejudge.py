"""Judging a run again: the same verdicts from the same bytes, or a list of what differs."""

from __future__ import annotations

import dataclasses

from armgate.campaign.comparison import comparison, comparison_bytes
from armgate.campaign.derived import (
    RunResult,
    boots_begun,
    exit_code,
    quality_records,
    read_plan,
    was_interrupted,
)
from armgate.campaign.judge import BootJudge
from armgate.campaign.publication import refuse_unjudgeable
from armgate.campaign.report import renew_report
from armgate.client.journal import journal_line
from armgate.model.base import Frozen
from armgate.model.outcome import Verdict
from armgate.model.plan import Plan, PlannedBoot
from armgate.reporting.checksums import renew_sums
from armgate.reporting.run_folder import RunFolder, model_bytes, write_atomically


class Difference(Frozen):
    """A derived file whose bytes are not what the evidence gives now."""

    file: str
    what: str


@dataclasses.dataclass(frozen=True)
class Rejudged:
    result: RunResult
    verdict_count: int
    files: dict[str, bytes]
    """Derived files, by path in the run, as they should be."""
    differences: tuple[Difference, ...]


def rejudge(run: RunFolder) -> Rejudged:
    """Every verdict and derived file from the plan and the recorded evidence alone."""
    refuse_unjudgeable(run)
    plan_file = read_plan(run)
    plan = plan_file.plan
    boots = boots_begun(run, plan)
    lines = {(b.arm, b.boot): BootJudge(run, plan, b).lines() for b in boots}
    verdicts = {key: {verdict.gate: verdict for verdict in of_boot} for key, of_boot in lines.items()}
    records = quality_records(run, plan, plan_file.digest, verdicts)
    files = {_path(run, boot): _verdicts_bytes(lines[boot.arm, boot.boot]) for boot in boots}
    files |= {f"arms/{name}/quality.json": model_bytes(record) for name, record in records.items()}
    made = comparison(plan, records)
    files["comparison.json"] = comparison_bytes(plan, made)
    code = exit_code(records, was_interrupted(run, boots))
    return Rejudged(
        result=RunResult(records, code, made),
        verdict_count=sum(len(by_gate) for by_gate in verdicts.values()),
        files=files,
        differences=tuple(_differences(run, files)),
    )


def revise(run: RunFolder, plan: Plan, boot: PlannedBoot) -> None:
    """After a boot for teacher forcing: write the verdicts of the boots whose answers it replayed."""
    replayed = {(replay.arm, replay.boot) for replay in plan.replays(boot.arm)} if not boot.climbs else set()
    for other in plan.boots:
        folder = run.boot(other.arm, other.boot)
        if other.climbs and (other.arm, other.boot) in replayed and folder.record.exists():
            write_atomically(folder.verdicts, _verdicts_bytes(BootJudge(run, plan, other).lines()))


def write_rejudged(run: RunFolder, again: Rejudged) -> None:
    """Replace what is derived; the report and the checksums of derived files follow."""
    for name, data in again.files.items():
        write_atomically(run.root / name, data)
    renew_sums(run.root, again.files)
    renew_report(run)


def _path(run: RunFolder, boot: PlannedBoot) -> str:
    return run.boot(boot.arm, boot.boot).verdicts.relative_to(run.root).as_posix()


def _verdicts_bytes(verdicts: list[Verdict]) -> bytes:
    return b"".join(journal_line(verdict.model_dump(mode="json")) for verdict in verdicts)


def _differences(run: RunFolder, files: dict[str, bytes]) -> list[Difference]:
    found = []
    for name, data in files.items():
        path = run.root / name
        if not path.exists():
            found.append(Difference(file=name, what="is missing"))
        elif path.read_bytes() != data:
            found.append(Difference(file=name, what=_first_difference(path.read_bytes(), data)))
    return found


def _first_difference(old: bytes, new: bytes) -> str:
    pairs = zip(old.splitlines(), new.splitlines(), strict=False)
    for number, (before, after) in enumerate(pairs, 1):
        if before != after:
            at = next((i for i, (x, y) in enumerate(zip(before, after, strict=False)) if x != y), 0)
            start = max(0, at - 30)
            was, now = (line[start : at + 50].decode("utf-8", "replace") for line in (before, after))
            return f"line {number}: recorded ...{was}..., judged ...{now}..."
    return "lines were added or removed at the end"
