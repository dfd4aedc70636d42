"""Every recorded incident whose subject the product has, run through public code; never by a case's id."""

from __future__ import annotations

import pytest

from support.cases.corpus import ELSEWHERE, LATER, Case, NotCovered, load_cases
from support.cases.expectations import mismatches
from support.cases.runners import run

WHOLE = (
    "1-reasoning-parsers",
    "2-sse-streaming",
    "3-usage",
    "4-metrics",
    "5-spec-decode",
    "6-boot",
    "7-long-context",
    "8-format",
)
"""Categories of which nothing may be left for later."""


@pytest.mark.parametrize("case", load_cases(), ids=lambda case: case.id)
def test_incident(case: Case) -> None:
    if case.category in ELSEWHERE:
        pytest.skip(f"run by {ELSEWHERE[case.category]}")
    try:
        observed = run(case)
    except NotCovered:
        assert case.category not in WHOLE
        pytest.skip(f"not covered yet: {LATER[case.category]}")
    assert not mismatches(case, observed), "\n".join(mismatches(case, observed))


def test_there_are_a_hundred_incidents_of_ten_categories() -> None:
    cases = load_cases()
    assert len(cases) == 100
    assert len({case.category for case in cases}) == 10
