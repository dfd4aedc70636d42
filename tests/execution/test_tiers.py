"""Opening executors: the strongest tier that holds, what is required, and what is said where none does."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from armgate.errors import SandboxUnavailable, UsageError
from armgate.execution import self_test, tiers
from armgate.execution.harness import Harness
from armgate.execution.self_test import Examined, examine, trials
from armgate.execution.tier import TierBackend
from armgate.execution.tiers import AUTO, STRENGTH, open_executor, try_tier
from armgate.model.execution import Kind, Tier
from support.imagined import Backend, doubled, value


class Named(Backend):
    def __init__(self, name: str) -> None:
        super().__init__(doubled)
        self.name = name


@pytest.fixture
def opened() -> list[Named]:
    return []


@pytest.fixture
def holding(monkeypatch: pytest.MonkeyPatch, opened: list[Named]) -> Callable[..., None]:
    """`holding("process")`: only the named tiers are there and hold."""

    def build(name: str, there: tuple[str, ...]) -> Callable[[Harness], TierBackend]:
        def make(_: Harness) -> TierBackend:
            if name not in there:
                raise SandboxUnavailable(f"no {name} here")
            opened.append(Named(name))
            return opened[-1]  # type: ignore[return-value]

        return make

    def set_up(*there: str) -> None:
        monkeypatch.setattr(tiers, "TIERS", {name: build(name, there) for name in STRENGTH})
        examined = lambda backend: Examined(Tier(name=backend.name), 1.0)  # noqa: E731
        monkeypatch.setattr(tiers, "examine", examined)

    return set_up


def test_auto_takes_the_strongest_that_holds(holding: Callable[..., None]) -> None:
    holding("process", "namespaces")
    assert open_executor("auto").tier.name == "namespaces"
    holding("process", "namespaces", "container")
    assert open_executor("auto").tier.name == "container"
    holding("process")
    assert open_executor().tier.name == "process"


def test_gvisor_is_used_only_where_asked_for(holding: Callable[..., None]) -> None:
    assert "container+gvisor" not in AUTO
    holding("container+gvisor")
    with pytest.raises(SandboxUnavailable):
        open_executor("auto")
    assert open_executor("container+gvisor").tier.name == "container+gvisor"


def test_a_weaker_tier_than_required_will_not_do(holding: Callable[..., None], opened: list[Named]) -> None:
    holding("process", "namespaces")
    with pytest.raises(SandboxUnavailable, match="container: no container here"):
        open_executor("auto", required="container")
    with pytest.raises(SandboxUnavailable, match="process is weaker than the required tier, namespaces"):
        open_executor("process", required="namespaces")
    assert opened == []
    assert open_executor("auto", required="namespaces").tier.name == "namespaces"


def test_a_required_gvisor_is_tried_by_auto(holding: Callable[..., None]) -> None:
    holding("container", "container+gvisor")
    assert open_executor("auto", required="container+gvisor").tier.name == "container+gvisor"


def test_where_none_holds_every_refusal_is_told(holding: Callable[..., None]) -> None:
    holding()
    with pytest.raises(SandboxUnavailable) as refused:
        open_executor("auto")
    for name in AUTO:
        assert f"{name}: no {name} here" in str(refused.value)


@pytest.mark.parametrize("names", [("jail", None), ("auto", "jail"), ("none", None)])
def test_unknown_tiers_are_wrong_usage(names: tuple[str, str | None]) -> None:
    with pytest.raises(UsageError, match="there are: auto, process"):
        open_executor(*names)


def test_a_tier_that_fails_its_self_test_is_closed_and_refused(
    monkeypatch: pytest.MonkeyPatch, harness: Harness
) -> None:
    backend = Named("process")
    backend.script = lambda request: value(request, [1, "a"])
    backend.describe = lambda _: Tier(name="process")  # type: ignore[attr-defined]
    monkeypatch.setitem(tiers.TIERS, "process", lambda _: backend)
    attempt = try_tier("process", harness)
    assert attempt.examined is None
    assert "self-test: reading a file of the host gave " in (attempt.refusal or "")
    assert backend.closed
    assert all(sandbox.closed for sandbox in backend.started)


def test_a_sandbox_that_lets_everything_through_does_not_hold() -> None:
    """Each trial by itself: a sandbox that gives every answer a clean pass fails all hostile ones."""
    kinds = {trial.name: trial.kind for trial in trials("/canary")}
    assert kinds.pop("an honest answer") is Kind.PASS
    assert kinds.pop("an honest answer with threads") is Kind.PASS
    assert Kind.PASS not in kinds.values()
    assert {Kind.SANDBOX_VIOLATION, Kind.MEMORY, Kind.OUTPUT_LIMIT} <= set(kinds.values())


def test_the_real_tiers_hold_and_measure_the_host(executor: object, harness: Harness) -> None:
    tier = executor.tier  # type: ignore[attr-defined]
    backend = tiers.TIERS[tier.name](harness)
    try:
        found = examine(backend)
    finally:
        backend.close()
    assert found.tier.name == tier.name
    assert found.tier.profile == harness.digest
    assert found.tier.isolates
    assert found.factor >= 1.0


def test_a_slow_host_gets_wider_limits(monkeypatch: pytest.MonkeyPatch, harness: Harness) -> None:
    monkeypatch.setattr(self_test, "BASELINE_S", 1e-6)
    try:
        backend = tiers.TIERS["process"](harness)
        found = examine(backend)
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    assert found.factor > 10
