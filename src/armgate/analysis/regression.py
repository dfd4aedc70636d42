"""What keeps two runs from being compared, and what changed from the older one to the newer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from armgate.analysis.comparison import versus
from armgate.model.arms import Arm
from armgate.model.base import Json
from armgate.model.comparison import ArmFigures
from armgate.model.outcome import Outcome
from armgate.model.plan import Plan, PlannedGate
from armgate.model.quality import QualityRecord
from armgate.model.regression import ArmRegression, GateChange

HELD_EQUAL = ("ladder", "probes", "contracts", "tasks", "sampling")
SAID = {"why", "says"}
"""Fields that say why, and change nothing that is asked or decided."""
OLDER = " (older run)"


def unlike(now: Plan, before: Plan) -> list[str]:
    """Everything of what must be equal that is not, by its path; empty where the runs may be compared."""
    return [*_unlike_gates(now, before), *_unlike_files(now, before), *_unlike_requests(now, before)]


def arm_regression(
    now: tuple[QualityRecord, ArmFigures], before: tuple[QualityRecord, ArmFigures]
) -> ArmRegression:
    """One arm of both runs."""
    record, figures = now
    old_record, old_figures = before
    older = old_figures.model_copy(update={"name": old_figures.name + OLDER})
    found = versus(figures.model_copy(update={"losses": ()}), older)
    changes = tuple(_changes(record, old_record))
    return ArmRegression(
        name=record.arm,
        before=old_record.arm_verdict,
        now=record.arm_verdict,
        differences=found.attribution.differences,
        changes=changes,
        versus=found,
        worse=_worse(record, old_record, changes),
    )


def _worse(now: QualityRecord, before: QualityRecord, changes: tuple[GateChange, ...]) -> bool:
    lost = before.arm_verdict == "accepted" != now.arm_verdict
    return lost or any(one.required and one.before is Outcome.PASSED for one in changes)


def _changes(now: QualityRecord, before: QualityRecord) -> Iterator[GateChange]:
    old = {gate.gate: gate.outcome for gate in before.gates}
    for gate in now.gates:
        if gate.gate in old and gate.outcome is not old[gate.gate]:
            yield GateChange(gate=gate.gate, required=gate.required, before=old[gate.gate], now=gate.outcome)


def _unlike_gates(now: Plan, before: Plan) -> Iterator[str]:
    ours, theirs = ({p.gate.id: p for p in plan.gates} for plan in (now, before))
    if list(ours) != list(theirs):
        both = [name for name in ours if name in theirs]
        missing = [f"{n} is new" for n in ours if n not in theirs] + [
            f"{n} is gone" for n in theirs if n not in ours
        ]
        yield f"ladder: {', '.join(missing) or f'another order of {len(both)} gates'}"
    for name in (name for name in ours if name in theirs):
        yield from (f"ladder: {name}.{path}" for path in _paths(_asked(ours[name]), _asked(theirs[name])))


def _asked(planned: PlannedGate) -> dict[str, Json]:
    """A gate without its reasons, and each probe by the digest of what it sends."""
    gate = planned.gate.model_dump(mode="json", exclude=SAID)
    gate["probes"] = {probe["id"]: probe for probe in gate["probes"]}
    digests = {probe.id: probe.model_dump(mode="json", exclude={"messages"}) for probe in planned.probes}
    return {**gate, "family": planned.family.value, "sent": digests}


def _unlike_files(now: Plan, before: Plan) -> Iterator[str]:
    for kind, ours, theirs in (
        ("contracts", now.contracts, before.contracts),
        ("tasks", now.tasks, before.tasks),
    ):
        mine = {name: one.model_dump(mode="json", by_alias=True) for name, one in ours.items()}
        other = {name: one.model_dump(mode="json", by_alias=True) for name, one in theirs.items()}
        yield from (f"{kind}: {path}" for path in _paths(mine, other))


def _unlike_requests(now: Plan, before: Plan) -> Iterator[str]:
    """What arms of the same name send in every request."""
    for name in (name for name in now.arms if name in before.arms):
        for path in _paths(_requested(now.arms[name]), _requested(before.arms[name])):
            yield f"sampling: {name}.{path}"


def _requested(arm: Arm) -> dict[str, Json]:
    return arm.model_dump(mode="json", include={"sampling", "thinking", "chat_template_kwargs"})


def _paths(ours: Json, theirs: Json, path: str = "") -> Iterator[str]:
    """Dotted paths at which two JSON values are not the same."""
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        for key in dict.fromkeys([*ours, *theirs]):
            yield from _paths(ours.get(key), theirs.get(key), f"{path}.{key}" if path else str(key))
    elif type(ours) is not type(theirs) or ours != theirs:
        yield path
