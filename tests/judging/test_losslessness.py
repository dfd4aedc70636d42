from __future__ import annotations

import math
import random
from typing import Any

import pytest

from armgate.judging.kinds.losslessness import Losslessness
from armgate.judging.losslessness import (
    compare_sides,
    divergence_of,
    sample_verdicts,
)
from armgate.model.evidence import Sample
from armgate.model.exchange import Exchange, Fate
from armgate.model.gates import Gate, Probe
from armgate.model.intervals import poisson_interval
from armgate.model.measures import PairComparison
from armgate.model.outcome import Outcome
from armgate.model.response import Response, Void


def sample(probe: str, n: int, tokens: tuple[int, ...], void: Void | None = None, **request: Any) -> Sample:
    asked = {"model": "m", "temperature": 0, "messages": [{"role": "user", "content": probe}], **request}
    text = "".join(f"<{token}>" for token in tokens)
    return Sample(
        id=f"{probe}.{n}",
        probe=Probe(id=probe, prompt=probe),
        n=n,
        path=f"exchanges/{probe}.{n}.json",
        exchange=Exchange(request=asked, status=200, headers={}, frames=(), fate=Fate.COMPLETE),
        response=Response(content=text, finish_reason="stop", token_ids=tokens),
        void=void,
    )


def pair(state: Any, compared: int, level: Any = "token_ids") -> PairComparison:
    return PairComparison(sample="p.0", against="p.0", state=state, level=level, compared=compared)


def test_totals_and_the_rate_over_tokens_until_the_first_divergence() -> None:
    arm = [sample("a", 0, (1, 2, 3, 4)), sample("b", 0, (1, 2, 9, 9, 9, 9)), sample("c", 0, ())]
    reference = [sample("a", 0, (1, 2, 3, 4)), sample("b", 0, (1, 2, 3, 4, 5, 6)), sample("c", 0, (1,))]
    found = compare_sides(arm, reference)
    assert (found.identical, found.diverged, found.void, found.level) == (1, 1, 1, "token_ids")
    assert found.per_1000_tokens.value == pytest.approx(1000 / 7)
    assert found.per_1000_tokens.n == 4 + 3
    assert found.identical_share.value == 0.5
    assert found.identical_share.n == 2
    assert found.per_1000_tokens_interval is not None
    assert found.per_1000_tokens_interval.method == "Garwood, exact Poisson"


def test_nothing_comparable_is_absent_and_not_zero() -> None:
    found = compare_sides([sample("a", 0, ())], [sample("a", 0, (1,))])
    assert (found.per_1000_tokens.absent, found.identical_share.absent) == (
        "no_token_ids_compared",
        "nothing_compared",
    )
    assert found.per_1000_tokens_interval is None
    assert found.identical_share_interval is None
    assert found.level is None


def test_pairs_compared_as_text_do_not_enter_a_rate_per_token() -> None:
    found = divergence_of([pair("identical", 100), pair("diverged", 5000, "text")])
    assert found.level == "mixed"
    assert (found.per_1000_tokens.value, found.per_1000_tokens.n) == (0.0, 100)
    assert found.identical_share.value == 0.5


def test_no_divergence_still_leaves_an_upper_bound() -> None:
    found = divergence_of([pair("identical", 1000)]).per_1000_tokens_interval
    assert found is not None
    assert (found.low, found.high) == (0.0, pytest.approx(3.6889, abs=1e-3))


@pytest.mark.parametrize(("events", "low", "high"), [(1, 0.0253, 5.5716), (10, 4.7954, 18.3904)])
def test_garwood_s_limits_are_the_tabled_ones(events: int, low: float, high: float) -> None:
    found = poisson_interval(events, 1.0)
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-3), pytest.approx(high, abs=1e-3))
    assert poisson_interval(events, 2.0).low == pytest.approx(found.low / 2)


def test_the_interval_covers_a_known_rate_of_divergence() -> None:
    chance, rate_per_token, covered = random.Random(3), 1 / 170, 0
    for _ in range(300):
        pairs = []
        for _ in range(20):
            until = next((n for n in range(1, 201) if chance.random() < rate_per_token), None)
            pairs.append(pair("diverged", until) if until else pair("identical", 200))
        interval = divergence_of(pairs).per_1000_tokens_interval
        assert interval is not None
        assert interval.high is not None
        covered += interval.low <= 1000 * rate_per_token <= interval.high
    assert covered >= 0.94 * 300


@pytest.mark.parametrize(
    ("arm", "reference", "cause"),
    [
        (
            sample("a", 0, (1,), void=Void(cause="stream_truncated", message="")),
            sample("a", 0, (1,)),
            "arm_void: stream_truncated",
        ),
        (
            sample("a", 0, (1,)),
            sample("a", 0, (1,), void=Void(cause="stream_truncated", message="")),
            "reference_void: stream_truncated",
        ),
        (sample("a", 0, (1,)), sample("b", 0, (1,)), "reference_missing"),
        (
            sample("a", 0, (1,), max_tokens=9),
            sample("a", 0, (1,), max_tokens=8),
            "requests_differ: max_tokens",
        ),
        (
            sample("a", 0, (1,), temperature=0.7),
            sample("a", 0, (1,), temperature=0.7),
            "not_greedy: temperature is not 0",
        ),
        (
            sample("a", 0, (1,), temperature=None),
            sample("a", 0, (1,), temperature=None),
            "not_greedy: temperature is not 0",
        ),
    ],
)
def test_samples_that_cannot_be_compared_are_void(arm: Sample, reference: Sample, cause: str) -> None:
    found = compare_sides([arm], [reference])
    assert (found.void, found.identical) == (1, 0)
    assert found.pairs[0].void_cause == cause
    (verdict,) = sample_verdicts(found, None)
    assert (verdict.outcome, verdict.cause) == (Outcome.VOID, cause)


def test_the_model_s_name_and_the_transport_may_differ() -> None:
    arm = sample("a", 0, (1,), model="draft-arm", stream=True, stream_options={"include_usage": True})
    assert compare_sides([arm], [sample("a", 0, (1,))]).identical == 1


OFF = sample("p", 0, (5, 9, 12, 40, 2))


def judged(on: Sample, again: Sample | None, margin: float | None = None, off: Sample = OFF) -> Any:
    control = compare_sides([again], [off]) if again is not None else None
    (verdict,) = sample_verdicts(compare_sides([on], [off], margin), control)
    return verdict


@pytest.mark.parametrize(("margin_nats", "refused"), [(-0.1, True), (math.nan, True), (0.0, False)])
def test_a_margin_that_is_none_is_refused(margin_nats: float, refused: bool) -> None:
    gate = Gate.model_construct(probes=(Probe(id="p", prompt="p"),), options={"near_tie_nats": margin_nats})
    assert bool(Losslessness().problems(gate)) is refused


def test_a_clear_divergence_fails_where_the_reference_repeats_itself() -> None:
    verdict = judged(sample("p", 0, (5, 9, 777, 41, 2)), OFF)
    assert (verdict.outcome, verdict.cause) == (Outcome.FAILED, "diverged")
    assert verdict.violations[0].clause == "lossless"
    assert "token 2" in verdict.violations[0].message
    assert "no control ran" not in verdict.violations[0].message
    assert verdict.detail["divergence"]["index"] == 2


def test_without_a_control_a_divergence_is_not_put_down_to_the_arm() -> None:
    assert "no control ran" in judged(sample("p", 0, (5, 9, 777)), None).violations[0].message
    void = sample("p", 0, (), void=Void(cause="cut", message="m"))
    assert "no control ran" in judged(sample("p", 0, (5, 9, 777)), void).violations[0].message


def test_an_unstable_control_voids_a_divergence_on_that_prompt_only() -> None:
    unstable = sample("p", 0, (5, 9, 14, 2))
    verdict = judged(sample("p", 0, (5, 9, 13, 41, 2)), unstable)
    assert (verdict.outcome, verdict.cause) == (Outcome.VOID, "control_unstable")
    assert judged(OFF, unstable).outcome is Outcome.PASSED
    elsewhere = compare_sides([sample("q", 0, (1,))], [sample("q", 0, (2,))])
    (other,) = sample_verdicts(compare_sides([sample("p", 0, (5, 9, 13))], [OFF]), elsewhere)
    assert other.outcome is Outcome.FAILED


def test_a_near_tie_passes_only_within_a_declared_margin_and_says_so() -> None:
    def logprobs(token: int, *top: tuple[int, float]) -> dict[str, Any]:
        return {
            "token": f"<{token}>",
            "logprob": -0.693,
            "top_logprobs": [{"token": f"<{t}>", "logprob": v} for t, v in top],
        }

    off_response = OFF.response.model_copy(
        update={"logprobs": tuple(logprobs(t, (t, -0.693), (t + 1, -0.695)) for t in (5, 9, 12, 40, 2))}
    )
    off = OFF.model_copy(update={"response": off_response})
    on = sample("p", 0, (5, 9, 13, 41, 2))
    on = on.model_copy(
        update={
            "response": on.response.model_copy(
                update={"logprobs": tuple(logprobs(t, (t, -0.69)) for t in (5, 9, 13, 41, 2))}
            )
        }
    )
    tie = judged(on, off, 0.05, off)
    assert (tie.outcome, tie.cause, tie.detail["divergence"]["near_tie"]) == (
        Outcome.PASSED,
        "near_tie",
        True,
    )
    assert judged(on, off, None, off).outcome is Outcome.FAILED
    assert compare_sides([on], [off], 0.05).near_ties == 1
    assert "gap 0.002 nats" in judged(on, off, 0.001, off).violations[0].message
