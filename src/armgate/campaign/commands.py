"""What would be started: a boot as its launcher is given it, and the exact commands that a plan shows."""

from __future__ import annotations

from pathlib import Path

from armgate.campaign.setting import Setting
from armgate.engines.launchers.protocol import Launch
from armgate.engines.launchers.registry import LAUNCHERS
from armgate.engines.registry import ENGINES
from armgate.loading.workspace import Workspace
from armgate.model.arms import Arm, AttachLauncher
from armgate.model.pins import ServedPin
from armgate.model.plan import Plan, PlannedBoot


def launch_of(setting: Setting, boot: PlannedBoot, log: Path) -> Launch:
    """One boot as its launcher is given it."""
    label = f"{setting.run.root.name}/{boot.arm}/{boot.boot:02d}"
    return _launch(setting.plan, setting.plan.arms[boot.arm], setting.workspace, log, label)


def boot_commands(plan: Plan, workspace: Workspace) -> dict[str, list[str]]:
    """Arm -> the words that would start it; a port that is drawn at the boot is shown as PORT."""
    commands = {}
    for name, arm in plan.arms.items():
        launch = _launch(plan, arm, workspace, Path("server.log"), name)
        commands[name] = _with_port(LAUNCHERS[arm.launcher.kind].command(launch))
    return commands


def offered_id(plan: Plan, arm: Arm) -> str | None:
    """The id that the arm's server has to offer, `None` where whatever an attached one offers is taken."""
    if not isinstance(arm.launcher, AttachLauncher):
        return arm.target
    if arm.launcher.model is not None:
        return arm.launcher.model
    pin = plan.pins[arm.target]
    return pin.served if isinstance(pin, ServedPin) else None


def _launch(plan: Plan, arm: Arm, workspace: Workspace, log: Path, label: str) -> Launch:
    return Launch(
        arm=arm,
        engine=ENGINES[arm.engine],
        pins=plan.pins,
        root=workspace.root,
        model_id=arm.target,
        log=log,
        label=label,
    )


def _with_port(words: list[str]) -> list[str]:
    return [
        "PORT" if (before, word) == ("--port", "0") else word
        for before, word in zip(["", *words], words, strict=False)
    ]
