"""A whole run: the plan on disk first, boots one after the other, a quality record per arm, a comparison."""

from __future__ import annotations

import asyncio
import dataclasses
import signal
import time
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path

from armgate.campaign.boot import BootRun, record_not_started
from armgate.campaign.calibration import stored
from armgate.campaign.comparison import chosen
from armgate.campaign.derived import RunResult, write_derived
from armgate.campaign.rejudge import revise
from armgate.campaign.report import finish
from armgate.campaign.setting import Setting, campaign_limit
from armgate.errors import UsageError
from armgate.model.plan import Plan, PlanFile, PlannedBoot
from armgate.reporting.checksums import drop_sums
from armgate.reporting.run_folder import RunFolder, write_model


def refuse_unbuilt(plan: Plan) -> None:
    """A campaign may declare arms over several machines; one that this version cannot run is refused."""
    wide = [name for name, arm in plan.arms.items() if getattr(arm.launcher, "nodes", 1) > 1]
    if wide:
        raise UsageError(
            f"these arms need several nodes, and one node is what this version boots: {', '.join(wide)}; "
            "boot them yourself and use `launcher: {kind: attach}`"
        )


def start(plan: Plan, out: Path, campaign_file: str) -> RunFolder:
    """Make the run's folder and write the plan into it; `campaign_file` by its path in the workspace."""
    refuse_unbuilt(plan)
    now = datetime.now(UTC)
    digest = plan.digest()
    # The engine's program runs in a folder of its own and writes its log by this path.
    folder = RunFolder.create(out.resolve(), plan.campaign, now.strftime("%Y%m%dT%H%M%SZ"), digest)
    created = now.isoformat(timespec="seconds")
    file = PlanFile(
        digest=digest,
        created_utc=created,
        campaign_file=campaign_file,
        calibration=stored(),
        plan=plan,
    )
    write_model(folder.plan, file)
    return folder


async def execute(setting: Setting, kept: Collection[PlannedBoot] = ()) -> RunResult:
    """Boot every planned arm once and leave a complete record, also when interrupted.

    Boots in `kept` are finished and on file; they are counted and not booted again.
    """
    _end_on_sigterm()
    setting.progress.run_started(setting.plan, setting.run.root)
    drop_sums(setting.run.root)
    setting = dataclasses.replace(setting, limit=campaign_limit(setting.plan))
    begun: list[PlannedBoot] = []
    try:
        for boot in setting.plan.boots:
            if setting.limit is not None and time.monotonic() >= setting.limit.at:
                _leave_out(setting, begun, kept, setting.limit.cause, setting.limit.message)
                break
            begun.append(boot)
            if boot in kept:
                continue
            await BootRun(setting, boot).run()
            revise(setting.run, setting.plan, boot)
            _arm_if_last(setting, begun, boot)
        await _final_boot(setting, begun, kept)
    except asyncio.CancelledError:
        _leave_out(setting, begun, kept, "interrupted", "the run was interrupted before this boot")
        return _end(setting, begun, interrupted=True)
    return _end(setting, begun, interrupted=False)


async def _final_boot(setting: Setting, begun: list[PlannedBoot], kept: Collection[PlannedBoot]) -> None:
    """Boot the chosen arm once more, where it asks for that and everything before has been done."""
    late = setting.limit is not None and time.monotonic() >= setting.limit.at
    if late or not setting.plan.has_final_slot or len(begun) < len(setting.plan.boots):
        return
    records = write_derived(setting.run, setting.plan, begun, interrupted=False).records
    name = chosen(setting.plan, records)
    if name is None:
        setting.progress.note("no final boot: no arm was chosen that asks for one")
        return
    boot = setting.plan.final_boot(name)
    begun.append(boot)
    if boot not in kept:
        await BootRun(setting, boot).run()


def _leave_out(
    setting: Setting, begun: list[PlannedBoot], kept: Collection[PlannedBoot], cause: str, message: str
) -> None:
    """Put the boots that were not reached on file as such."""
    for boot in setting.plan.boots[len(begun) :]:
        begun.append(boot)
        if boot not in kept:
            record_not_started(setting, boot, cause, message)


def _end(setting: Setting, begun: Sequence[PlannedBoot], interrupted: bool) -> RunResult:
    setting.progress.note("writing the report and its checksums")
    result = write_derived(setting.run, setting.plan, begun, interrupted)
    finish(setting.run)
    return result


def _end_on_sigterm() -> None:
    """A service manager's SIGTERM ends a run as Ctrl-C does: everything stopped, everything on file."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)


def _arm_if_last(setting: Setting, begun: Sequence[PlannedBoot], boot: PlannedBoot) -> None:
    """An arm's record is written as soon as its last boot is done, so that a later fault loses nothing."""
    planned = [b for b in setting.plan.boots if b.arm == boot.arm]
    if boot == planned[-1]:
        result = write_derived(setting.run, setting.plan, begun, interrupted=False)
        setting.progress.arm_done(result.records[boot.arm])
