"""Two finished runs set side by side, if the same was asked of both."""

from __future__ import annotations

from armgate.analysis.regression import HELD_EQUAL, arm_regression, unlike
from armgate.campaign.comparison import arm_figures
from armgate.campaign.finished import FinishedRun
from armgate.errors import UsageError
from armgate.model.outcome import ArmVerdict
from armgate.model.regression import Regression

LIMITS = (
    "The runs were made at different times: what was not recorded may differ too.",
    "Claims about figures hold beyond the older run's own noise floor, and name the arm alone only where "
    "each side has enough boots.",
)


def compare_runs(now: FinishedRun, before: FinishedRun) -> Regression:
    """Every arm that both runs have. UsageError names all that was asked of one and not of the other."""
    found = unlike(now.plan, before.plan)
    if found:
        raise UsageError(
            f"{now.folder.root} and {before.folder.root} cannot be compared, because not the same was asked "
            f"of both; what differs: {'; '.join(found)}"
        )
    both = [name for name in now.records if name in before.records]
    if not both:
        raise UsageError(
            f"{now.folder.root} and {before.folder.root} have no arm in common: {', '.join(now.records)} "
            f"against {', '.join(before.records)}; arms are compared by name"
        )
    gone = [name for name in before.records if name not in now.records]
    return Regression(
        run=str(now.folder.root),
        against=str(before.folder.root),
        armgate_versions=(now.plan.armgate_version, before.plan.armgate_version),
        held_equal=HELD_EQUAL,
        arms=tuple(
            arm_regression(
                (now.records[name], arm_figures(now.plan, now.records[name])),
                (before.records[name], arm_figures(before.plan, before.records[name])),
            )
            for name in both
        ),
        only_now=tuple(name for name in now.records if name not in before.records),
        only_before=tuple(gone),
        lost=tuple(name for name in gone if before.records[name].arm_verdict is ArmVerdict.ACCEPTED),
        limits=LIMITS,
    )
