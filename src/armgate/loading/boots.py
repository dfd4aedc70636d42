"""Which boots a plan has, in their order, and what a ladder must say before answers can be replayed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from armgate.errors import Problem
from armgate.loading.strict_yaml import Document
from armgate.model.arms import Arm
from armgate.model.gates import Ladder
from armgate.model.plan import PlannedBoot, PlannedGate, replays_of


def planned_boots(arms: Mapping[str, Arm], gates: Sequence[PlannedGate]) -> tuple[PlannedBoot, ...]:
    """Every arm's own boots, references first; then the boots that replay what has been said in those."""
    climbs = [
        PlannedBoot(arm=name, boot=number, purpose="first" if number == 0 else "replicate")
        for name, arm in arms.items()
        for number in range(1 + arm.boots.replicates)
    ]
    replaying = [
        PlannedBoot(arm=name, boot=1 + arm.boots.replicates, purpose="teacher_forcing")
        for name, arm in arms.items()
        if replays_of(name, arms, climbs, gates)
    ]
    return (*climbs, *replaying)


def replay_problems(
    campaign: Document, ladder: Ladder, document: Document, arms: Mapping[str, Arm], comparing: frozenset[str]
) -> Iterator[Problem]:
    """What keeps answers from being replayed, where an arm asks for it: the verdict of a replayed gate
    comes after the arm's boot, so nothing in the ladder may wait for it, and it needs a margin."""
    if not any(arm.boots.teacher_forcing for arm in arms.values()):
        return
    gates = {gate.id: n for n, gate in enumerate(ladder.gates) if gate.check in comparing}
    if not gates:
        message = "teacher_forcing replays the answers of a losslessness gate, and the ladder has none"
        yield campaign.problem(("ladder",), message)
    for number in gates.values():
        gate, where = ladder.gates[number], ("gates", number)
        if "near_tie_nats" not in gate.options:
            message = "a gate whose answers are replayed declares its margin: options: {near_tie_nats: ...}"
            yield document.problem((*where, "options"), message)
        if gate.on_failure == "stop":
            message = "a gate whose answers are replayed is decided after the boot and cannot stop it"
            yield document.problem((*where, "on_failure"), message)
    for number, gate in enumerate(ladder.gates):
        for needed in set(gate.requires) & gates.keys():
            message = f"{needed!r} is decided after the boot, when its answers are replayed"
            yield document.problem(("gates", number, "requires"), message)
