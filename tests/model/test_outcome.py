"""The rules that combine outcomes, row by row of their tables."""

from itertools import product

import pytest
from pydantic import ValidationError

from armgate.model.outcome import (
    ArmVerdict,
    Family,
    Outcome,
    Verdict,
    arm_verdict,
    campaign_exit_code,
    flag,
    gate_outcome,
    worst,
)

P, F, S, V, E = Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED, Outcome.VOID, Outcome.ERRORED


@pytest.mark.parametrize(
    ("samples", "planned", "wanted", "least", "outcome"),
    [
        ([P], 1, 1, 1, P),
        ([F], 1, 1, 1, F),
        ([V], 1, 1, 1, V),
        ([E], 1, 1, 1, E),
        ([F, V, E], 3, 3, 3, F),
        ([P, P, F], 3, 2, 3, P),
        ([P, F, F], 3, 2, 3, F),
        ([P, P, V], 3, 2, 3, V),
        ([P, P, V], 3, 2, 2, P),
        ([P, E, V], 3, 3, 3, E),
        ([P, P], 3, 3, 3, V),
        ([], 3, 3, 3, V),
    ],
)
def test_gate_outcome(
    samples: list[Outcome], planned: int, wanted: int, least: int, outcome: Outcome
) -> None:
    assert gate_outcome(samples, planned, wanted, least) is outcome


def test_zero_planned_samples_are_a_fault_of_the_plan() -> None:
    with pytest.raises(ValueError, match="without samples"):
        gate_outcome([], 0, 1, 1)


def test_nothing_but_passes_is_ever_a_pass() -> None:
    for samples in product([P, F, V, E], repeat=3):
        if gate_outcome(samples, 3, 3, 3) is P:
            assert samples == (P, P, P)


def test_worst_over_boots() -> None:
    assert worst([P, S, V, E, F]) is F
    assert worst([P, S, V, E]) is E
    assert worst([P, S, V]) is V
    assert worst([P, S]) is S


@pytest.mark.parametrize(
    ("outcomes", "value"),
    [([P, P], True), ([P, F, V], False), ([P, V], None), ([P, S], None), ([], None), ([E], None)],
)
def test_flag(outcomes: list[Outcome], value: bool | None) -> None:
    assert flag(outcomes) is value


@pytest.mark.parametrize(
    ("required", "ready", "verdict", "code"),
    [
        ([P, P], True, ArmVerdict.ACCEPTED, 0),
        ([P, F, E], True, ArmVerdict.REJECTED, 1),
        ([P, E, V], True, ArmVerdict.INCONCLUSIVE, 4),
        ([P, V], True, ArmVerdict.INCONCLUSIVE, 3),
        ([P, S], True, ArmVerdict.INCONCLUSIVE, 3),
        ([P], False, ArmVerdict.NOT_BOOTED, 4),
    ],
)
def test_arm_verdict(required: list[Outcome], ready: bool, verdict: ArmVerdict, code: int) -> None:
    assert arm_verdict(required, ready) == (verdict, code)


def test_campaign_exit_code_precedence() -> None:
    assert campaign_exit_code([0, 1, 3, 4], interrupted=True) == 130
    assert campaign_exit_code([0, 1, 3, 4]) == 4
    assert campaign_exit_code([0, 1, 3]) == 1
    assert campaign_exit_code([0, 3]) == 3
    assert campaign_exit_code([0]) == 0
    assert campaign_exit_code([]) == 5


@pytest.mark.parametrize("outcome", [S, F, V])
def test_a_verdict_owes_its_reason(outcome: Outcome) -> None:
    with pytest.raises(ValidationError):
        Verdict(gate="g", check="contract", family=Family.CONTRACT, required=True, outcome=outcome)
