"""A run against an older one for people: verdicts, gates that changed, figures, and what differs."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from armgate.cli.output import inert
from armgate.model.regression import ArmRegression, Regression


def regression_table(made: Regression) -> Table:
    """One row per arm and figure, its gates that changed in the first."""
    table = Table(title=f"against {made.against}", title_justify="left", box=None, padding=(0, 2, 0, 0))
    for heading in ("arm", "verdict", "gates that changed", "figure", "ratio", "claim", "why"):
        table.add_column(heading, overflow="fold")
    for arm in made.arms:
        for row in _rows(arm):
            table.add_row(*row)
    return table


def _rows(arm: ArmRegression) -> Iterator[tuple[str, ...]]:
    verdict = arm.now.value if arm.now is arm.before else f"{arm.before.value} -> {arm.now.value}"
    changes = ", ".join(f"{one.gate} {one.before.value} -> {one.now.value}" for one in arm.changes)
    head = (arm.name, verdict, changes or "none")
    if not arm.versus.contrasts:
        yield (*head, "nothing measured", "", "", "")
    for one in arm.versus.contrasts:
        figure, claim = f"{one.metric} on {one.kind}", one.claim.replace("_", " ")
        yield (*head, figure, f"{one.ratio:.3f}", claim, inert(one.why))
        head = ("", "", "")


def regression_lines(made: Regression) -> Iterator[str]:
    yield f"held equal: {', '.join(made.held_equal)}"
    for arm in made.arms:
        for one in arm.differences:
            yield f"{arm.name}: {one.path} is {one.arm}, was {one.reference}"
        if arm.worse:
            yield f"worse: {arm.name}"
    for name in made.lost:
        yield f"worse: {name} was accepted and is not in this run"
    now, before = made.armgate_versions
    if now != before:
        yield f"armgate is {now}, was {before}"
    for what, names in (("only in this run", made.only_now), ("only in the older run", made.only_before)):
        if names:
            yield f"{what}: {', '.join(names)}"
    yield from (f"limit: {limit}" for limit in made.limits)
