from __future__ import annotations

import json
from typing import Any

from armgate.judging.examples import failing_examples
from armgate.model.contract import Contract


def _contract(**examples: Any) -> Contract:
    clauses = [{"finish": {}}, {"reasoning": {"presence": "forbidden"}}, {"exact": {"text": "703"}}]
    declared = {
        "schema": "armgate/contract/v1",
        "id": "x",
        "says": "x",
        "clauses": clauses,
        "examples": examples,
    }
    return Contract.model_validate_json(json.dumps(declared), strict=True)


def test_examples_that_hold_are_silent() -> None:
    passing = ["703", {"content": "703", "completion_tokens": 3, "max_tokens": 16}]
    failing = [
        {"text": "703.", "violates": ["exact"]},
        {"text": "703.", "violates": ["exact:punctuation"]},
        {"content": "703", "reasoning": "hm", "violates": ["reasoning"]},
        {"content": "703", "completion_tokens": 16, "max_tokens": 16, "violates": ["finish:at_cap"]},
    ]
    assert failing_examples(_contract(**{"pass": passing, "fail": failing})) == ()


def test_each_broken_example_is_told_with_what_it_does() -> None:
    failing = [
        {"text": "703", "violates": ["exact"]},
        {"text": "703.", "violates": ["exact", "finish"]},
        {"text": "703.", "violates": ["exact:whitespace"]},
        {"content": "703.", "finish": "length", "violates": ["exact"]},
    ]
    broken = failing_examples(_contract(**{"pass": ["703", "704"], "fail": failing}))
    assert [(one.which, one.number) for one in broken] == [("pass", 2), *(("fail", n) for n in range(1, 5))]
    assert str(broken[1]) == "fail example 1: violates nothing; expected exact"
    assert [violation.clause for violation in broken[4].violations] == ["finish", "exact"]


def test_a_contract_without_examples_shows_nothing() -> None:
    assert [one.which for one in failing_examples(_contract())] == ["pass", "fail"]
