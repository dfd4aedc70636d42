"""What every step of one run shares."""

from __future__ import annotations

import dataclasses
import time

from armgate.campaign.progress import Progress
from armgate.campaign.sandbox import Sandboxes
from armgate.loading.workspace import Workspace
from armgate.model.arms import Arm
from armgate.model.boots import BootState
from armgate.model.plan import Plan
from armgate.reporting.run_folder import RunFolder

CAMPAIGN_DEADLINE = "campaign_deadline"


@dataclasses.dataclass(frozen=True)
class TimeLimit:
    """An instant on `time.monotonic`, which is the event loop's clock too, and what to say when it passes."""

    at: float
    cause: str
    message: str

    def state(self, was_ready: bool) -> BootState:
        """A boot's own deadline is a result of the arm; the campaign's leaves the boot to be done again."""
        if self.cause == CAMPAIGN_DEADLINE:
            return BootState.INTERRUPTED
        return BootState.STOPPED if was_ready else BootState.FAILED


def campaign_limit(plan: Plan) -> TimeLimit | None:
    if plan.deadline_s is None:
        return None
    message = f"the campaign was not done within {plan.deadline_s:g} s"
    return TimeLimit(time.monotonic() + plan.deadline_s, CAMPAIGN_DEADLINE, message)


@dataclasses.dataclass(frozen=True)
class Setting:
    plan: Plan
    run: RunFolder
    workspace: Workspace
    progress: Progress
    sandboxes: Sandboxes
    limit: TimeLimit | None = None
    """The end of the whole campaign, set when it begins."""

    def model_id(self, arm: Arm) -> str:
        """The name that the server offers the target under: the same for all arms of a target, so that
        their request bodies are equal byte for byte."""
        return arm.target
