"""Which gate is skipped, and because of which."""

import pytest

from armgate.judging.ladder import skip_cause
from armgate.model.gates import Gate, Probe
from armgate.model.outcome import Family, Outcome, Verdict, Violation


def gate(name: str, requires: tuple[str, ...] = (), stop: bool = False) -> Gate:
    return Gate(
        id=name,
        check="contract",
        required=True,
        why="for the test",
        requires=requires,
        on_failure="stop" if stop else "continue",
        probes=(Probe(id="p", prompt="x"),),
        contract="c",
    )


def verdict(name: str, outcome: Outcome) -> Verdict:
    return Verdict(
        gate=name,
        check="contract",
        family=Family.CONTRACT,
        required=True,
        outcome=outcome,
        because_of="other" if outcome is Outcome.SKIPPED else None,
        cause="lost" if outcome is Outcome.VOID else None,
        violations=(Violation(clause="exact", message="no"),) if outcome is Outcome.FAILED else (),
    )


def cause(of: Gate, *earlier: tuple[Gate, Outcome]) -> str | None:
    verdicts = {g.id: verdict(g.id, outcome) for g, outcome in earlier}
    return skip_cause(of, verdicts, {g.id: g for g, _ in earlier})


@pytest.mark.parametrize("outcome", [o for o in Outcome if o is not Outcome.PASSED])
def test_requires_is_satisfied_only_by_passed(outcome: Outcome) -> None:
    assert cause(gate("b", requires=("a",)), (gate("a"), outcome)) == "a"
    assert cause(gate("b", requires=("a",)), (gate("a"), Outcome.PASSED)) is None
    assert cause(gate("b"), (gate("a"), outcome)) is None


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [(Outcome.FAILED, "a"), (Outcome.VOID, None), (Outcome.ERRORED, None), (Outcome.SKIPPED, None)],
)
def test_stop_acts_on_failed_only(outcome: Outcome, expected: str | None) -> None:
    assert cause(gate("b"), (gate("a", stop=True), outcome)) == expected


def test_identity_is_required_by_every_gate() -> None:
    verdicts = {"identity": verdict("identity", Outcome.FAILED)}
    assert skip_cause(gate("b"), verdicts, {}) == "identity"
