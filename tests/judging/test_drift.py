"""Drift: only what passed at first and failed at last."""

from __future__ import annotations

import pytest

from armgate.judging.drift import with_drift
from armgate.model.outcome import Family, Outcome, SampleVerdict, Verdict, Violation

P, F, V, S = Outcome.PASSED, Outcome.FAILED, Outcome.VOID, Outcome.SKIPPED


def verdict(outcome: Outcome) -> Verdict:
    broken = Violation(clause="exact", message="m", family=Family.CONTRACT)
    sample = SampleVerdict(sample="p.0", outcome=outcome, violations=(broken,) if outcome is F else ())
    return Verdict(
        gate="yes",
        check="contract",
        family=Family.CONTRACT,
        required=True,
        outcome=outcome,
        samples=(sample,),
        cause="c",
        because_of="x" if outcome is S else None,
    )


@pytest.mark.parametrize("first", [P, F, V, S])
@pytest.mark.parametrize("again", [P, F, V, S])
def test_a_change_from_pass_to_fail_is_the_only_drift(first: Outcome, again: Outcome) -> None:
    found = with_drift(verdict(again), verdict(first)).findings
    assert [finding.kind for finding in found] == (["drift"] if (first, again) == (P, F) else [])
