import itertools

import pytest
from pydantic import ValidationError

from armgate.model.gates import Probe
from armgate.model.load import Arrivals, Grid, GridPrompt, Prefix


def test_fixed_arrivals_are_evenly_spaced_from_zero() -> None:
    assert Arrivals(process="fixed", per_s=4.0).offsets_s(4) == (0.0, 0.25, 0.5, 0.75)


def test_poisson_arrivals_repeat_with_their_seed_and_have_the_declared_mean() -> None:
    arrivals = Arrivals(process="poisson", per_s=10.0, seed=5)
    offsets = arrivals.offsets_s(2001)
    assert offsets == arrivals.offsets_s(2001)
    assert offsets != Arrivals(process="poisson", per_s=10.0, seed=6).offsets_s(2001)
    gaps = [later - earlier for earlier, later in itertools.pairwise(offsets)]
    assert offsets[0] == 0.0
    assert sum(gaps) / len(gaps) == pytest.approx(0.1, rel=0.1)
    assert max(gaps) > 3 * sum(gaps) / len(gaps)


def test_a_fresh_prefix_is_another_for_each_request_and_the_same_every_time() -> None:
    fresh = Prefix(cache="fresh", seed=7)
    lines = {fresh.line(role, n) for role in ("warm_up", "sample") for n in range(50)}
    assert len(lines) == 100
    assert fresh.line("sample", 3) == Prefix(cache="fresh", seed=7).line("sample", 3)


def test_a_warm_prefix_is_the_probes_own() -> None:
    warm = Prefix(cache="warm", seed=7)
    assert {warm.line("sample", n) for n in range(9)} == {warm.line("warm_up", 0)}
    assert warm.line("sample", 0) != Prefix(cache="warm", seed=8).line("sample", 0)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"samples": 5, "concurrency": 2}, "5 samples are no whole batches of 2"),
        ({"samples": 2, "concurrency": 2, "arrivals": {"process": "fixed", "per_s": 1.0}}, "arrivals and"),
        ({"prefix": {"cache": "warm"}}, "needs a warm_up"),
    ],
)
def test_a_probe_is_sent_in_one_way(fields: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Probe.model_validate({"id": "p", "prompt": "x", **fields})


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"max_tokens": 9, "output_tokens": 9}, "exactly one of output_tokens"),
        ({}, "exactly one of output_tokens"),
        ({"max_tokens": 9, "concurrency": (2, 2)}, "a value occurs twice"),
        ({"max_tokens": 9, "cache": ("warm",)}, "needs a warm_up"),
    ],
)
def test_a_grid_that_contradicts_itself_is_refused(fields: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Grid.model_validate({"prompts": (GridPrompt(id="a", prompt="x"),), "runs": 1, **fields})
