"""A bound that nothing is held against is refused where it is declared, and no pass where it is judged."""

import pytest

from armgate.judging.bounds import held
from armgate.judging.checks import CHECKS
from armgate.judging.protocol import gate_problems
from armgate.model.gates import Gate, Probe, Threshold

PROBE = Probe(id="p", prompt="x")


def problems(check: str, threshold: Threshold) -> dict[str, str]:
    gate = Gate(id="g", check=check, required=True, why="w", probes=(PROBE,), threshold=threshold)
    return {field: told for field, told in gate_problems(CHECKS[check], gate) if field.startswith("thr")}


@pytest.mark.parametrize(
    ("check", "direction", "name", "hint"),
    [
        ("speed", "at_least", "decode_spam", "did you mean 'decode_span'?"),
        ("latency", "at_most", "tfft", "did you mean 'ttft'?"),
        ("latency", "at_least", "ttft", "it bounds none in this direction"),
        ("acceptance", "at_most", "zeal", "figures: acceptance_rate, mean_accepted, mean_length"),
        ("memory_floor", "at_least", "available_gib", "it bounds none in this direction"),
        ("contract", "at_most", "ttft", "it bounds none in this direction"),
    ],
)
def test_a_name_that_a_check_does_not_bound_is_refused(
    check: str, direction: str, name: str, hint: str
) -> None:
    found = problems(check, Threshold.model_validate({direction: {name: 1.0}}))
    assert found[f"threshold.{direction}.{name}"].endswith(hint)


@pytest.mark.parametrize("check", sorted(CHECKS))
def test_every_name_that_a_check_bounds_may_be_declared(check: str) -> None:
    bounds = CHECKS[check].bounds
    threshold = Threshold(
        at_least=dict.fromkeys(bounds.at_least, 1.0), at_most=dict.fromkeys(bounds.at_most, 2.0)
    )
    assert problems(check, threshold) == {}


def test_a_figure_is_within_beyond_or_missing() -> None:
    threshold = Threshold(at_least={"rate": 2.0}, at_most={"time": 3.0})
    found = held(threshold, {"a ": {"rate": 1.0, "time": 4.0}, "b ": {"rate": 2.0, "time": None}, "c ": {}})
    assert [one.message for one in found.violations] == ["a rate 1 is below 2", "a time 4 is above 3"]
    assert [told.split(":")[0] for told in found.without_figure] == ["b time", "c rate", "c time"]
