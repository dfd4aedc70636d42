"""Going on with a run that ended early: what is finished is kept, what is half done is booted anew."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence

import armgate
from armgate.campaign.derived import final_boots, recorded_verdicts
from armgate.campaign.evidence import boot_record
from armgate.campaign.known import known
from armgate.campaign.select import selected
from armgate.errors import RecordError, UsageError
from armgate.loading.plan import make_plan
from armgate.loading.workspace import Workspace
from armgate.model.base import digest_bytes
from armgate.model.boots import BootState
from armgate.model.gates import IDENTITY
from armgate.model.plan import Plan, PlanFile, PlannedBoot
from armgate.reporting.run_folder import RunFolder

ENDED = frozenset({BootState.STOPPED, BootState.FAILED, BootState.DIED})
"""How a boot can end by itself. What a person, a signal or a deadline of the campaign cut off is none."""


def refuse_changed(file: PlanFile, workspace: Workspace) -> None:
    """UsageError with everything that changed since the run was planned: going on would mix two runs."""
    changed = [*_changed_tool(file.plan), *_changed_inputs(file.plan, workspace)]
    if not changed:
        now = make_plan(workspace, workspace.path(file.campaign_file), known())
        if selected(now, tuple(file.plan.arms)).digest() != file.digest:
            changed.append("the plan that this version makes of the same files")
    if changed:
        raise UsageError(
            "this run cannot go on, because something it was planned with has changed: "
            + "; ".join(changed)
            + ". Put it back, or start anew: armgate resume --anew"
        )


def _changed_tool(plan: Plan) -> Iterator[str]:
    if plan.armgate_version != armgate.__version__:
        yield f"armgate {plan.armgate_version} is now {armgate.__version__}"


def _changed_inputs(plan: Plan, workspace: Workspace) -> Iterator[str]:
    for name, digest in plan.inputs.items():
        path = workspace.root / name
        if not path.is_file():
            yield f"{name} is missing"
        elif digest_bytes(path.read_bytes()) != digest:
            yield name


def finished_boots(run: RunFolder, plan: Plan) -> list[PlannedBoot]:
    """The planned boots, a final one included, that ended by themselves and have every verdict on file."""
    return [boot for boot in (*plan.boots, *final_boots(run, plan)) if _is_finished(run, plan, boot)]


def _is_finished(run: RunFolder, plan: Plan, boot: PlannedBoot) -> bool:
    folder = run.boot(boot.arm, boot.boot)
    if not folder.record.exists():
        return False
    record = boot_record(folder)
    ended = record.state in ENDED and record.total_s is not None
    wanted = {IDENTITY, *(planned.gate.id for planned in plan.gates_of(boot))}
    return ended and set(recorded_verdicts(folder)) == wanted


def set_aside(run: RunFolder, boots: Sequence[PlannedBoot]) -> list[str]:
    """Make room for boots that are to be booted again; the folders of those that had begun, by their names.

    A boot that never started left no evidence, only the note that it was not reached: that note goes.
    """
    aside = []
    for boot in boots:
        folder = run.boot(boot.arm, boot.boot)
        if folder.record.exists() and boot_record(folder).state is BootState.NOT_STARTED:
            _remove(folder.root)
            continue
        moved = run.supersede(boot.arm, boot.boot)
        if moved is not None:
            aside.append(moved.relative_to(run.root).as_posix())
    return aside


def _remove(folder: object) -> None:
    try:
        shutil.rmtree(str(folder))
    except OSError as error:
        raise RecordError(f"{folder} cannot be removed: {error.strerror}") from None
