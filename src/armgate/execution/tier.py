"""What a tier offers: sandboxes to start, and what they isolate."""

from __future__ import annotations

from typing import Protocol

from armgate.execution.sandbox import Sandbox
from armgate.model.execution import Limits, Tier


class TierBackend(Protocol):
    """Built from a `Harness`; SandboxUnavailable there or in `start` says what is missing and what to do."""

    name: str

    def start(self, limits: Limits) -> Sandbox:
        """A fresh sandbox that has room for cases of these limits."""
        ...

    def describe(self, sandbox: Sandbox) -> Tier:
        """The tier as verdicts name it, from what a running sandbox said of itself."""
        ...

    def close(self) -> None:
        """Gives back what the backend itself holds; its sandboxes are closed by whoever started them."""
        ...
