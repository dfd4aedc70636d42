"""The registry of tiers, and opening an executor on the strongest one that really holds on this host."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable

from armgate.errors import ArmgateError, SandboxUnavailable, UsageError
from armgate.execution.container import ContainerTier, GvisorTier
from armgate.execution.executor import Executor, SandboxExecutor
from armgate.execution.harness import Harness, load_harness, sandbox_folder
from armgate.execution.namespaces import NamespacesTier
from armgate.execution.process import ProcessTier
from armgate.execution.self_test import Examined, examine
from armgate.execution.tier import TierBackend

TIERS: dict[str, Callable[[Harness], TierBackend]] = {
    "process": ProcessTier,
    "namespaces": NamespacesTier,
    "container": ContainerTier,
    "container+gvisor": GvisorTier,
}
"""Weakest first."""

STRENGTH = tuple(TIERS)
AUTO = ("container", "namespaces", "process")
"""What `auto` tries, strongest first. gVisor costs 80 ms a case, so it is only used where it is asked for."""


@dataclasses.dataclass(frozen=True)
class Attempt:
    """A tier that was tried: what it answered, or that it held."""

    name: str
    backend: TierBackend | None
    examined: Examined | None
    refusal: str | None


def try_tier(name: str, harness: Harness) -> Attempt:
    """Starts the tier and runs its self-test. A refusal is a value: the next tier may hold."""
    _demand_known(name)
    backend = None
    try:
        backend = TIERS[name](harness)
        return Attempt(name, backend, examine(backend), None)
    except (ArmgateError, OSError) as error:
        if backend is not None:
            backend.close()
        return Attempt(name, None, None, str(error) or type(error).__name__)


def _demand_known(name: str) -> None:
    if name not in TIERS:
        raise UsageError(f"no tier is called {name!r}; there are: auto, {', '.join(TIERS)}")


def open_executor(tier: str = "auto", required: str | None = None, workers: int | None = None) -> Executor:
    """An executor on `tier`, or for `auto` on the strongest tier whose self-test passes.

    `required` is the weakest tier that will do. SandboxUnavailable says what was tried, what each answered
    and what to do; there is no way to run an answer without a sandbox.
    """
    for name in {tier, required} - {None, "auto"}:
        _demand_known(str(name))
    weakest = STRENGTH.index(required) if required in STRENGTH else 0
    wanted = (tier,) if tier != "auto" else AUTO if required in (None, "auto", *AUTO) else (required,)
    names = [name for name in wanted if STRENGTH.index(name) >= weakest]
    harness = load_harness(sandbox_folder())
    refusals = []
    for name in names:
        attempt = try_tier(name, harness)
        if attempt.backend is not None and attempt.examined is not None:
            found = attempt.examined
            return SandboxExecutor(attempt.backend, found.tier, found.factor, workers or os.cpu_count() or 1)
        refusals.append(f"{name}: {attempt.refusal}")
    if not names:
        refusals.append(f"{tier} is weaker than the required tier, {required}")
    raise SandboxUnavailable("no sandbox holds on this host; " + "; ".join(refusals))
