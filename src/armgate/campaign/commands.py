"""The exact commands that a plan would start, for `armgate plan` and for whoever must approve them."""

from __future__ import annotations

from armgate.engines.pins import locate
from armgate.engines.protocol import ArmFiles
from armgate.engines.registry import ENGINES
from armgate.loading.workspace import Workspace
from armgate.model.arms import Arm, ProcessLauncher
from armgate.model.pins import FilePin
from armgate.model.plan import Plan


def arm_files(plan: Plan, arm: Arm, workspace: Workspace) -> ArmFiles:
    """Where an arm's pinned artifacts are, for the engine's argv."""
    template = plan.pins[arm.chat_template] if arm.chat_template else None
    draft = arm.speculative.draft if arm.speculative else None
    return ArmFiles(
        target=locate(arm.target, plan.pins[arm.target], workspace.root),
        draft=locate(draft, plan.pins[draft], workspace.root) if draft else None,
        tokenizer=locate(arm.tokenizer, plan.pins[arm.tokenizer], workspace.root) if arm.tokenizer else None,
        chat_template=workspace.path(template.file) if isinstance(template, FilePin) else None,
    )


def boot_commands(plan: Plan, workspace: Workspace) -> dict[str, list[str]]:
    """Arm -> argv; the port is drawn at the boot and shown as PORT."""
    commands = {}
    for name, arm in plan.arms.items():
        argv = ENGINES[arm.engine].argv(arm, arm_files(plan, arm, workspace), arm.target, 0)
        shown = [
            "PORT" if before == "--port" else word for before, word in zip(("", *argv), argv, strict=False)
        ]
        program = arm.launcher.python if isinstance(arm.launcher, ProcessLauncher) else arm.launcher.kind
        commands[name] = [program, *shown]
    return commands
