from __future__ import annotations

import json
from typing import Any

import pytest

from armgate.judging.teacher_forcing import forced_side, forced_verdicts
from armgate.model.evidence import Sample
from armgate.model.exchange import Exchange, Fate, Frame
from armgate.model.gates import Probe
from armgate.model.outcome import Outcome, SampleVerdict
from armgate.model.response import Response, Void
from armgate.model.teacher_forcing import ForcedSide, ReplayedAnswer

PROMPT = [1, 2]


def sample(ids: tuple[int, ...] | None = (7, 8, 9), void: Void | None = None) -> Sample:
    return Sample(
        id="p.0",
        probe=Probe(id="p", prompt="p"),
        n=0,
        path="p.0.jsonl",
        exchange=Exchange(request={}, status=200, headers={}, frames=(), fate=Fate.COMPLETE),
        response=Response(content="x", token_ids=ids),
        void=void,
    )


def place(token: int, own: float = -0.5, rank: int = 1, **others: float) -> dict[str, Any]:
    """The server's entry for one prompt token; `others`: t<id>=logprob of tokens that are more likely."""
    listed = {str(token): {"logprob": own, "rank": rank, "decoded_token": f"w{token}"}}
    return listed | {
        k[1:]: {"logprob": v, "rank": 1, "decoded_token": f"w{k[1:]}"} for k, v in others.items()
    }


def replayed(
    *places: Any, sent: tuple[int, ...] = (7, 8, 9), status: int = 200, body: bytes | None = None
) -> ReplayedAnswer:
    listed = [None, place(2), *places]
    text = json.dumps({"choices": [{"text": "", "prompt_logprobs": listed}]}).encode()
    return ReplayedAnswer(
        sample="p.0",
        path="r.jsonl",
        prompt_tokens=len(PROMPT),
        exchange=Exchange(
            request={"prompt": [*PROMPT, *sent]},
            status=status,
            headers={},
            frames=(Frame(0.1, text if body is None else body),),
            fate=Fate.COMPLETE,
        ),
    )


def side(*places: Any, **fields: Any) -> ForcedSide:
    return forced_side([sample()], [replayed(*places, **fields)])


def verdict(arm: ForcedSide, control: ForcedSide | None, margin_nats: float = 0.1) -> SampleVerdict:
    (found,) = forced_verdicts(arm, control, margin_nats, "base")
    return found


STEADY = side(place(7), place(8), place(9))


def test_what_the_reference_would_have_said_passes_without_a_flip() -> None:
    found = verdict(STEADY, STEADY)
    assert (found.outcome, found.cause) == (Outcome.PASSED, None)
    assert (STEADY.tokens, STEADY.flips, STEADY.per_1000_tokens.value) == (3, 0, 0.0)
    assert STEADY.per_1000_tokens_interval is not None


def test_flips_are_counted_each_by_itself_and_the_widest_decides() -> None:
    arm = side(place(7, -0.7, 2, t70=-0.65), place(8), place(9, -1.0, 3, t90=-0.92))
    assert (arm.flips, arm.worst_gap_nats) == (2, pytest.approx(0.08))
    assert arm.per_1000_tokens.value == pytest.approx(2000 / 3)
    found = verdict(arm, STEADY)
    assert (found.outcome, found.cause) == (Outcome.PASSED, "near_tie")
    worst = found.detail["teacher_forced"]["worst"]
    assert (worst["index"], worst["token"], worst["reference_token"]) == (2, 9, 90)
    assert (worst["token_text"], worst["reference_token_text"]) == ("w9", "w90")


def test_beyond_the_margin_it_fails_and_says_where() -> None:
    found = verdict(side(place(7), place(8, -3.0, 5, t80=-0.1), place(9)), STEADY)
    assert (found.outcome, found.cause) == (Outcome.FAILED, "diverged")
    assert "at token 1: 'w8' against 'w80'; gap 2.9 nats" in found.violations[0].message


def test_a_gap_that_the_reference_shows_of_itself_condemns_nobody() -> None:
    shaky = side(place(7, -1.0, 2, t70=-0.5), place(8), place(9))
    narrower = side(place(7, -1.0, 2, t70=-0.6), place(8), place(9))
    wider = side(place(7, -1.0, 2, t70=-0.4), place(8), place(9))
    assert verdict(narrower, shaky).cause == "control_unstable"
    assert verdict(wider, shaky).outcome is Outcome.FAILED
    assert verdict(shaky, None).outcome is Outcome.VOID


def test_a_control_of_which_nothing_was_replayed_condemns_nobody() -> None:
    far = side(place(7), place(8, -3.0, 5, t80=-0.1), place(9))
    assert verdict(far, forced_side([sample()], [])).cause == "control_missing"


def test_an_exact_tie_that_was_broken_the_other_way_is_a_flip_of_no_width() -> None:
    arm = side(place(7, -0.5, 2, t70=-0.5), place(8), place(9))
    assert (arm.flips, arm.worst_gap_nats) == (1, 0.0)
    assert verdict(arm, STEADY, 0.0).cause == "near_tie"


@pytest.mark.parametrize(
    ("replay", "cause"),
    [
        (None, "not_replayed"),
        (replayed(place(7), status=400), "replay_refused: complete, HTTP 400"),
        (replayed(place(7), place(8), place(9), sent=(7, 8, 10)), "replay_of_other_tokens"),
        (replayed(place(7), place(8)), "replay_without_logprobs"),
        (replayed(body=b"not json"), "replay_without_logprobs"),
        (replayed(body=b'{"choices": [{"text": ""}]}'), "replay_without_logprobs"),
        (replayed(place(7), place(80), place(9)), "replay_unreadable: KeyError: '8'"),
        (replayed(place(7), None, place(9)), "replay_unreadable: AttributeError"),
    ],
)
def test_a_replay_that_is_no_evidence_is_void(replay: ReplayedAnswer | None, cause: str) -> None:
    found = verdict(forced_side([sample()], [replay] if replay else []), STEADY)
    assert found.outcome is Outcome.VOID
    assert (found.cause or "").startswith(cause)


@pytest.mark.parametrize(
    ("answer", "cause"),
    [(sample(None), "no_token_ids"), (sample(void=Void(cause="cut", message="m")), "arm_void: cut")],
)
def test_an_answer_that_cannot_be_replayed_is_void(answer: Sample, cause: str) -> None:
    found = verdict(forced_side([answer], [replayed(place(7), place(8), place(9))]), STEADY)
    assert (found.outcome, found.cause) == (Outcome.VOID, cause)
