"""What every step of one run shares."""

from __future__ import annotations

import dataclasses

from armgate.campaign.progress import Progress
from armgate.campaign.sandbox import Sandboxes
from armgate.loading.workspace import Workspace
from armgate.model.arms import Arm
from armgate.model.plan import Plan
from armgate.reporting.run_folder import RunFolder


@dataclasses.dataclass(frozen=True)
class Setting:
    plan: Plan
    run: RunFolder
    workspace: Workspace
    progress: Progress
    sandboxes: Sandboxes

    def model_id(self, arm: Arm) -> str:
        """The name that the server offers the target under: the same for all arms of a target, so that
        their request bodies are equal byte for byte."""
        return arm.target
