from __future__ import annotations

import pytest
from pydantic import ValidationError

from armgate.model.measures import CounterDeltas, Interference, Measure


def test_a_measure_has_a_value_or_says_why_not() -> None:
    with pytest.raises(ValidationError, match="exactly one of value and absent"):
        Measure(name="r", formula="a/b", unit="tok/s", n=1)
    with pytest.raises(ValidationError, match="exactly one of value and absent"):
        Measure(name="r", formula="a/b", unit="tok/s", n=1, value=1.0, absent="no")
    assert Measure(name="r", formula="a/b", unit="tok/s", n=1, value=0.0).value == 0.0


def test_requests_are_unknown_where_nothing_was_counted_by_reason() -> None:
    assert CounterDeltas(available=True).requests is None
    assert CounterDeltas(available=True, finished={}).requests == 0


@pytest.mark.parametrize(
    ("requests", "prompt", "generation", "foreign"),
    [(None, None, None, None), (0, None, None, False), (0, 5, 0, True), (1, 0, 0, True), (-1, 0, 0, False)],
)
def test_foreign_traffic(
    requests: int | None, prompt: int | None, generation: int | None, foreign: bool | None
) -> None:
    found = Interference(requests=requests, prompt_tokens=prompt, generation_tokens=generation)
    assert found.foreign is foreign
