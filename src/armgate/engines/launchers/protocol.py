"""The seam of launchers: what is to be booted, and what a launcher does with it."""

from __future__ import annotations

import dataclasses
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol

from armgate.engines.pins import locate
from armgate.engines.protocol import ArmFiles, Engine
from armgate.engines.server import Server
from armgate.model.arms import Arm
from armgate.model.pins import FilePin, PinCheck, Pins


@dataclasses.dataclass(frozen=True)
class Launch:
    """One boot of one arm, before a launcher has made a server of it."""

    arm: Arm
    engine: Engine
    pins: Pins
    root: Path
    """The workspace; paths in a campaign are relative to it."""
    model_id: str
    log: Path
    label: str
    """`<run>/<arm>/<boot>`, on everything that the boot starts."""


@dataclasses.dataclass(frozen=True)
class Observed:
    """What a launcher saw of an arm's pins before the start."""

    pins: tuple[PinCheck, ...]
    versions: dict[str, str]


class Launcher(Protocol):
    """How a server comes to be there. `serving` leaves nothing of the boot, whatever happened."""

    def command(self, launch: Launch) -> list[str]:
        """The exact words that would start it; the port, drawn at the boot, is shown as PORT."""
        ...

    async def observe(self, launch: Launch) -> Observed:
        """Pins as they are where they will be used, or BootError where the boot cannot be."""
        ...

    def serving(self, launch: Launch) -> AbstractAsyncContextManager[Server]:
        """A started server, not yet ready, for the length of the block."""
        ...


def pin_roles(arm: Arm) -> list[tuple[str, str]]:
    """(role, pin name) of everything that an arm pins."""
    named = [
        ("target", arm.target),
        ("draft", arm.speculative.draft if arm.speculative else None),
        ("tokenizer", arm.tokenizer),
        ("chat_template", arm.chat_template),
        ("packages", arm.packages),
        ("image", getattr(arm.launcher, "image", None)),
    ]
    return [(role, name) for role, name in named if name is not None]


def arm_files(arm: Arm, pins: Pins, root: Path) -> ArmFiles:
    """Where an arm's pinned artifacts are on this machine, for the engine's argv."""
    template = pins[arm.chat_template] if arm.chat_template else None
    draft = arm.speculative.draft if arm.speculative else None
    return ArmFiles(
        target=locate(arm.target, pins[arm.target], root),
        draft=locate(draft, pins[draft], root) if draft else None,
        tokenizer=locate(arm.tokenizer, pins[arm.tokenizer], root) if arm.tokenizer else None,
        chat_template=(root / template.file).resolve() if isinstance(template, FilePin) else None,
    )
