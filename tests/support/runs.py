"""Whole runs of small campaigns, as the command line would make them."""

from __future__ import annotations

import asyncio
from pathlib import Path

from armgate.campaign.derived import RunResult
from armgate.campaign.known import known
from armgate.campaign.progress import Progress
from armgate.campaign.run import execute, start
from armgate.campaign.sandbox import Sandboxes
from armgate.campaign.setting import Setting
from armgate.loading.plan import make_plan
from armgate.loading.workspace import Workspace
from armgate.reporting.run_folder import RunFolder
from support.stand_in import SmallWorkspace


def setting(small: SmallWorkspace, campaign: Path, progress: Progress | None = None) -> Setting:
    workspace = Workspace(small.root)
    plan = make_plan(workspace, campaign, known())
    run = start(plan, small.root / "runs", workspace.relative(campaign))
    return Setting(plan, run, workspace, progress or Progress(), Sandboxes())


def run(
    small: SmallWorkspace, campaign: Path, progress: Progress | None = None
) -> tuple[RunFolder, RunResult]:
    made = setting(small, campaign, progress)
    return made.run, asyncio.run(execute(made))
