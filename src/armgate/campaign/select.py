"""A plan for some of a campaign's arms: those chosen, and the references that they are judged against."""

from __future__ import annotations

from collections.abc import Sequence

from armgate.errors import UsageError
from armgate.model.plan import Plan, count, replays_of


def selected(plan: Plan, names: Sequence[str]) -> Plan:
    """`plan` cut down to `names` and their references; itself where no name is given."""
    if not names:
        return plan
    unknown = [name for name in names if name not in plan.arms]
    if unknown:
        raise UsageError(f"no arm {', '.join(unknown)}; arms: {', '.join(plan.arms)}")
    wanted: set[str] = set()
    frontier = {*names, plan.reference}
    while frontier:
        wanted |= frontier
        of_gates = {p.gate.reference for p in plan.gates if p.gate.reference}
        frontier = ({plan.arms[name].reference for name in frontier} | of_gates) - wanted
    boots = tuple(boot for boot in plan.boots if boot.arm in wanted)
    arms = {name: arm for name, arm in plan.arms.items() if name in wanted}
    boots = tuple(boot for boot in boots if boot.climbs or replays_of(boot.arm, arms, boots, plan.gates))
    return plan.model_copy(update={"arms": arms, "boots": boots, "counts": count(arms, boots, plan.gates)})
