"""A run against an older one: what was held equal, what differs, and what got better or worse."""

from __future__ import annotations

from typing import Literal

from armgate.model.base import Frozen, Name
from armgate.model.comparison import Difference, Versus
from armgate.model.outcome import ArmVerdict, Outcome


class GateChange(Frozen):
    """A gate whose outcome is not what it was."""

    gate: Name
    required: bool
    before: Outcome
    now: Outcome


class ArmRegression(Frozen):
    """One arm in both runs."""

    name: Name
    before: ArmVerdict
    now: ArmVerdict
    differences: tuple[Difference, ...]
    """Pins, settings and observed versions that are not the same; `reference` is the older run's."""
    changes: tuple[GateChange, ...]
    versus: Versus
    """Figures and verdicts against the older run's, whose own repeats are the noise floor."""
    worse: bool
    """Accepted before and not now, or a required gate that passed before and does not now."""


class Regression(Frozen):
    """What `armgate compare RUN --against RUN` says."""

    schema_version: Literal["armgate/regression/v1"] = "armgate/regression/v1"
    run: str
    against: str
    armgate_versions: tuple[str, str]
    """This run's and the older one's."""
    held_equal: tuple[str, ...]
    arms: tuple[ArmRegression, ...]
    only_now: tuple[Name, ...]
    only_before: tuple[Name, ...]
    lost: tuple[Name, ...]
    """Of those only before, the ones that were accepted."""
    limits: tuple[str, ...]

    @property
    def worse(self) -> bool:
        return bool(self.lost) or any(arm.worse for arm in self.arms)
