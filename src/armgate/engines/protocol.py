"""The seam: what an engine module knows, and what it is given. A new engine is one module of this shape."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Protocol

from armgate.model.arms import Arm
from armgate.model.base import Json


@dataclasses.dataclass(frozen=True)
class Located:
    """A model that the engine will load: a local folder, or a hub repository and its commit."""

    name: str
    path: Path | None = None
    repository: str | None = None
    revision: str | None = None

    @property
    def argument(self) -> str:
        return str(self.path) if self.path is not None else str(self.repository)


@dataclasses.dataclass(frozen=True)
class ArmFiles:
    """Where an arm's pinned artifacts are on this machine."""

    target: Located
    draft: Located | None = None
    tokenizer: Located | None = None
    chat_template: Path | None = None


class Engine(Protocol):
    """Pure knowledge about one engine: nothing here starts, connects or waits."""

    name: str
    managed: frozenset[str]
    """Serve settings that Armgate sets itself and a campaign may not."""

    def argv(self, arm: Arm, files: ArmFiles, model_id: str, port: int) -> tuple[str, ...]:
        """Arguments after the interpreter that serve `arm` on loopback."""
        ...

    def environment(self, arm: Arm, scratch: Path) -> dict[str, str]:
        """Variables that keep caches, telemetry and temporary files of this boot inside `scratch`."""
        ...

    def refused_parameters(self, arm: Arm) -> frozenset[str]:
        """Request keys that the engine does not accept for this arm; they are never sent."""
        ...

    def failure(self, log: str) -> tuple[str, str] | None:
        """The cause (a stable word) and the line that says why a boot failed, if the log says so."""
        ...

    def log_facts(self, log: str) -> dict[str, Json]:
        """Resolved settings that only the log tells."""
        ...

    def version_of(self, body: Json) -> str | None:
        """The engine's version out of the answer of its version endpoint."""
        ...
