"""Servers that speak OpenAI's protocol and nothing else that Armgate may rely on: attached, never started."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from armgate.engines.failures import Failure
from armgate.engines.protocol import Address, ArmFiles
from armgate.errors import BootError
from armgate.model.arms import Arm
from armgate.model.base import Json


class OpenAiCompatible:
    """The least that a server offers: `/v1/models` and chat. Others refine it."""

    name = "openai"
    managed: frozenset[str] = frozenset()
    attach_only = True
    packages: tuple[str, ...] = ()
    health: str | None = None
    version: str | None = None
    tells: tuple[str, ...] = ()
    reset: str | None = None

    def argv(self, arm: Arm, files: ArmFiles, model_id: str, at: Address) -> tuple[str, ...]:
        raise BootError("attach_only", f"Armgate does not start {self.name} servers; attach to one")

    def environment(self, arm: Arm, scratch: Path) -> dict[str, str]:
        return {}

    def refused_parameters(self, arm: Arm) -> frozenset[str]:
        return frozenset()

    def failure(self, log: str) -> Failure | None:
        return None

    def log_facts(self, log: str) -> dict[str, Json]:
        return {}

    def own_depth(self, arm: Arm) -> dict[str, int]:
        return {"depth": arm.depth} if arm.speculative is not None else {}

    def resolved(self, answers: Mapping[str, Json]) -> dict[str, Json]:
        return {}

    def version_of(self, body: Json) -> str | None:
        version = body.get("version") if isinstance(body, dict) else None
        return version if isinstance(version, str) else None
