"""The seam: what an engine module knows, and what it is given. A new engine is one module of this shape."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from armgate.engines.failures import Failure
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


MODELS = "/v1/models"
"""The path that every OpenAI-compatible server has; `resolved` gets the entry of the arm's own model."""


class Address(NamedTuple):
    """Where a server is told to listen."""

    host: str
    port: int


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

    attach_only: bool
    """Whether Armgate knows no way to start it; `argv` and `environment` are never asked then."""
    packages: tuple[str, ...]
    """Distributions whose versions inside the engine's environment are recorded."""
    health: str | None
    """The path that answers 200 once the model is loaded, `None` where the engine has none."""
    version: str | None
    """The path that tells the engine's version."""
    tells: tuple[str, ...]
    """Further paths of GET whose JSON holds resolved settings; what is not there is no fault."""

    reset: str | None
    """The path of POST that empties the prefix cache, `None` where the engine has none."""

    def argv(self, arm: Arm, files: ArmFiles, model_id: str, at: Address) -> tuple[str, ...]:
        """Arguments after the interpreter that serve `arm` at `at`."""
        ...

    def environment(self, arm: Arm, scratch: Path) -> dict[str, str]:
        """Variables that keep caches, telemetry and temporary files of this boot inside `scratch`."""
        ...

    def refused_parameters(self, arm: Arm) -> frozenset[str]:
        """Request keys that the engine does not accept for this arm; they are never sent."""
        ...

    def failure(self, log: str) -> Failure | None:
        """Why a boot failed, if the log says so."""
        ...

    def log_facts(self, log: str) -> dict[str, Json]:
        """Resolved settings that only the log tells."""
        ...

    def own_depth(self, arm: Arm) -> dict[str, int]:
        """The arm's depth under the engine's own setting and in its own counting."""
        ...

    def resolved(self, answers: Mapping[str, Json]) -> dict[str, Json]:
        """Resolved settings, named as `serve` names them, out of the answers of `tells` by path."""
        ...

    def version_of(self, body: Json) -> str | None:
        """The engine's version out of the answer of its version endpoint."""
        ...
