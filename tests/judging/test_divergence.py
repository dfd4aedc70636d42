from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armgate.judging.divergence import SHOWN_CHARACTERS, common_prefix, compare_pair
from armgate.model.measures import FirstDivergence, PairComparison
from armgate.model.response import Channel, Response, ToolCall, Usage


def ids(*tokens: int, **rest: Any) -> Response:
    text = "".join(f"<{token}>" for token in tokens)
    return Response(**{"content": text, "finish_reason": "stop", "token_ids": tokens, **rest})


def entry(token: int, logprob: float, *others: tuple[int, float]) -> dict[str, Any]:
    top = [(token, logprob), *others]
    return {
        "token": f"<{token}>",
        "logprob": logprob,
        "top_logprobs": [{"token": f"<{t}>", "logprob": value} for t, value in top],
    }


def compare(arm: Response, reference: Response, near_tie_nats: float | None = None) -> PairComparison:
    return compare_pair("p.0", arm, "p.0", reference, near_tie_nats)


def parted(pair: PairComparison) -> FirstDivergence:
    assert pair.divergence is not None
    return pair.divergence


def test_the_same_token_ids_are_identical() -> None:
    pair = compare(ids(5, 9, 12, 2), ids(5, 9, 12, 2))
    assert (pair.state, pair.level, pair.common_prefix, pair.compared) == ("identical", "token_ids", 4, 4)
    assert pair.divergence is None
    assert pair.notes == ()


def test_the_first_different_token_is_named_with_both_continuations() -> None:
    pair = compare(ids(5, 9, 13, 41, 2), ids(5, 9, 12, 40, 2))
    found = parted(pair)
    assert (pair.state, pair.common_prefix, pair.compared) == ("diverged", 2, 3)
    assert (found.index, found.unit, found.channel, found.text_index) == (2, "tokens", "content", 8)
    assert (found.arm_text, found.reference_text) == ("3><41><2>", "2><40><2>")
    assert found.arm is not None
    assert found.reference is not None
    assert (found.arm.token, found.reference.token) == (13, 12)
    assert (found.gap_nats, found.near_tie) == (None, None)


REFERENCE = ids(5, 9, 12, 40, 2)
AROUND = [entry(5, -0.1), entry(9, -0.1)]
REST = [entry(40, -0.1), entry(2, -0.1)]


def with_logprobs(response: Response, entries: list[dict[str, Any]]) -> Response:
    return response.model_copy(update={"logprobs": tuple(entries)})


def test_a_near_tie_is_told_by_the_reference_s_own_log_probabilities() -> None:
    reference = with_logprobs(REFERENCE, [*AROUND, entry(12, -0.693, (13, -0.695)), *REST])
    arm = ids(5, 9, 13, 41, 2)
    arm = with_logprobs(arm, [*AROUND, entry(13, -0.690, (12, -0.696)), entry(41, -1), entry(2, -1)])
    found = parted(compare(arm, reference, near_tie_nats=0.05))
    assert found.gap_nats == pytest.approx(0.002)
    assert found.near_tie is True
    assert not found.gap_is_lower_bound
    assert found.arm is not None
    assert found.reference is not None
    assert (found.arm.in_reference, found.arm.in_arm) == (-0.695, -0.690)
    assert (found.reference.in_reference, found.reference.in_arm) == (-0.693, -0.696)
    assert parted(compare(arm, reference, near_tie_nats=0.001)).near_tie is False
    assert parted(compare(arm, reference)).near_tie is None


def test_a_token_beyond_the_listed_candidates_gives_a_lower_bound() -> None:
    reference = with_logprobs(REFERENCE, [*AROUND, entry(12, -0.01, (31, -5.2)), *REST])
    arm = with_logprobs(ids(5, 9, 777, 41, 2), [*AROUND, entry(777, -0.2), entry(41, -1), entry(2, -1)])
    found = parted(compare(arm, reference, near_tie_nats=0.05))
    assert found.gap_nats == pytest.approx(5.19)
    assert found.gap_is_lower_bound
    assert found.near_tie is False
    assert parted(compare(arm, reference, near_tie_nats=9.0)).near_tie is None


def test_log_probabilities_that_do_not_match_the_tokens_one_to_one_are_not_used() -> None:
    reference = with_logprobs(REFERENCE, [*AROUND, entry(12, -0.693, (13, -0.695))])
    found = parted(compare(ids(5, 9, 13, 41, 2), reference, near_tie_nats=1.0))
    assert (found.gap_nats, found.near_tie) == (None, None)


def test_token_names_by_id_are_understood_without_log_probabilities_on_the_arm_s_side() -> None:
    named = {
        "token": "token_id:12",
        "logprob": -0.5,
        "top_logprobs": [{"token": "token_id:13", "logprob": -0.6}],
    }
    reference = with_logprobs(REFERENCE, [*AROUND, named, *REST])
    assert parted(compare(ids(5, 9, 13, 41, 2), reference)).gap_nats == pytest.approx(0.1)


def test_one_side_that_ends_earlier_has_diverged() -> None:
    pair = compare(ids(5, 9), ids(5, 9, 12))
    found = parted(pair)
    assert (found.index, pair.compared) == (2, 3)
    assert found.arm is None
    assert found.reference is not None
    assert found.reference.token == 12


def test_without_ids_on_one_side_the_text_is_compared_and_the_record_says_so() -> None:
    pair = compare(Response(content="same begin A", finish_reason="stop"), ids(1, content="same begin B"))
    found = parted(pair)
    assert (pair.level, found.unit, found.index, found.channel) == ("text", "characters", 11, "content")
    assert (found.arm_text, found.reference_text) == ("A", "B")


def test_reasoning_comes_before_content() -> None:
    arm = Response(reasoning="think one", content="703")
    found = parted(compare(arm, Response(reasoning="think two", content="703")))
    assert (found.channel, found.index) == ("reasoning", 6)
    pair = compare(arm, Response(reasoning="think one", content="704"))
    assert (parted(pair).channel, parted(pair).index, parted(pair).text_index) == ("content", 11, 2)


def test_tool_calls_take_part() -> None:
    def call(arguments: str) -> Response:
        return Response(content="", tool_calls=(ToolCall(index=0, id="a", name="f", arguments=arguments),))

    assert compare(call('{"a":1}'), call('{"a":1}')).state == "identical"
    assert parted(compare(call('{"a":1}'), call('{"a":2}'))).channel == Channel.TOOL_CALLS


@pytest.mark.parametrize("empty", [Response(content=None), Response(content=""), Response(token_ids=())])
def test_a_side_that_captured_nothing_is_void(empty: Response) -> None:
    for arm, reference, side in (
        (empty, REFERENCE, "arm"),
        (REFERENCE, empty, "reference"),
        (empty, empty, "arm"),
    ):
        pair = compare(arm, reference)
        assert (pair.state, pair.level, pair.compared) == ("void", None, 0)
        assert pair.void_cause is not None
        assert pair.void_cause.startswith(f"nothing_captured: the {side}'s")


def test_text_cut_short_under_equal_token_counts_is_noted() -> None:
    usage = Usage(completion_tokens=31)
    arm = Response(content="The result", finish_reason="stop", usage=usage)
    reference = Response(content="The result is 703.", finish_reason="stop", usage=usage)
    assert compare(arm, reference).notes == (
        "text_shorter_than_tokens: of 31 tokens each, the arm's text is a mere prefix",
    )
    assert "the reference's text" in compare(reference, arm).notes[0]


def test_what_differs_beside_the_tokens_is_noted() -> None:
    other = ids(1, 2, content="other text", finish_reason="length")
    assert compare(other, ids(1, 2)).notes == (
        "finish_reason: length against stop",
        "text_differs: the token ids agree, the texts read from them do not",
    )
    one, two = (Response(content="a", usage=Usage(completion_tokens=n)) for n in (1, 2))
    assert compare(one, two).notes == ("token_counts_differ: 1 against 2 tokens for the same text",)


def test_the_same_text_in_another_channel_is_another_answer() -> None:
    thought, said = Response(reasoning="The answer is 4."), Response(content="The answer is 4.")
    pair = compare(thought, said)
    assert (pair.state, parted(pair).index, parted(pair).channel) == ("diverged", 0, "reasoning")
    by_ids = compare(Response(reasoning="4.", token_ids=(1, 2)), Response(content="4.", token_ids=(1, 2)))
    assert by_ids.state == "identical"
    assert by_ids.notes == ("channels_differ: the token ids agree, the texts stand in other channels",)


def test_continuations_are_short() -> None:
    found = parted(compare(Response(content="x" * 500), Response(content="y" * 500)))
    assert (found.arm_text, found.reference_text) == ("x" * SHOWN_CHARACTERS, "y" * SHOWN_CHARACTERS)


tokens = st.lists(st.integers(0, 3), min_size=1, max_size=12)


@given(tokens, tokens)
def test_the_place_is_the_first_at_which_the_sides_differ(ours: list[int], theirs: list[int]) -> None:
    pair, mirrored = compare(ids(*ours), ids(*theirs)), compare(ids(*theirs), ids(*ours))
    assert pair.state == mirrored.state == ("identical" if ours == theirs else "diverged")
    at = pair.common_prefix
    assert at == mirrored.common_prefix == common_prefix(ours, theirs)
    assert ours[:at] == theirs[:at]
    assert ours[at : at + 1] != theirs[at : at + 1] or ours == theirs
