"""Compares one prompt's two outputs: identical, or where they part and how near a tie that was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from armgate.model.base import Json
from armgate.model.measures import Candidate, FirstDivergence, PairComparison
from armgate.model.response import Channel, Response

SHOWN_CHARACTERS = 60
GENERATION_ORDER = (Channel.REASONING, Channel.CONTENT, Channel.TOOL_CALLS)


class TextPlace(NamedTuple):
    """Where two outputs' texts part: the channel, and the offset in it."""

    channel: Channel
    text_index: int


def compare_pair(
    sample: str, arm: Response, against: str, reference: Response, near_tie_nats: float | None = None
) -> PairComparison:
    """Compares by token id where both sides have ids, else by characters of all channels.

    `near_tie_nats` is the declared margin: a gap of the reference's log probabilities up to it is a near
    tie. Without log probabilities on the reference's side there is no gap and no near tie.
    """
    void = _void_cause(arm, reference)
    if void is not None:
        return PairComparison(sample=sample, against=against, state="void", void_cause=void)
    by_ids = bool(arm.token_ids and reference.token_ids)
    ours: Sequence[object] = (arm.token_ids or ()) if by_ids else _characters(arm)
    theirs: Sequence[object] = (reference.token_ids or ()) if by_ids else _characters(reference)
    prefix = common_prefix(ours, theirs)
    parted = prefix < max(len(ours), len(theirs))
    return PairComparison(
        sample=sample,
        against=against,
        state="diverged" if parted else "identical",
        level="token_ids" if by_ids else "text",
        common_prefix=prefix,
        compared=prefix + parted,
        divergence=_first_divergence(arm, reference, prefix, by_ids, near_tie_nats) if parted else None,
        notes=tuple(_notes(arm, reference, by_ids, parted)),
    )


def common_prefix(ours: Sequence[object], theirs: Sequence[object]) -> int:
    """Length of the longest common beginning."""
    for index, (mine, other) in enumerate(zip(ours, theirs, strict=False)):
        if mine != other:
            return index
    return min(len(ours), len(theirs))


def _void_cause(arm: Response, reference: Response) -> str | None:
    for side, response in (("arm", arm), ("reference", reference)):
        if not response.token_ids and not _whole_text(response):
            return f"nothing_captured: the {side}'s output has neither text nor token ids"
    return None


def _whole_text(response: Response) -> str:
    return "".join(response.channel(channel) or "" for channel in GENERATION_ORDER)


def _characters(response: Response) -> list[tuple[Channel, str]]:
    """A character in another channel is another one: a thought is no answer."""
    return [(channel, each) for channel in GENERATION_ORDER for each in response.channel(channel) or ""]


def _first_divergence(
    arm: Response, reference: Response, prefix: int, by_ids: bool, near_tie_nats: float | None
) -> FirstDivergence:
    place = _text_place(arm, reference)
    ours, theirs = _candidates(arm, reference, prefix) if by_ids else (None, None)
    gap, bound = _gap(reference, prefix, ours, theirs)
    return FirstDivergence(
        index=prefix,
        unit="tokens" if by_ids else "characters",
        channel=place.channel if place else None,
        text_index=place.text_index if place else None,
        arm_text=_continuation(arm, place),
        reference_text=_continuation(reference, place),
        arm=ours,
        reference=theirs,
        gap_nats=gap,
        gap_is_lower_bound=bound,
        near_tie=_is_near_tie(gap, bound, near_tie_nats),
    )


def _is_near_tie(gap: float | None, bound: bool, margin_nats: float | None) -> bool | None:
    """A lower bound beyond the margin settles the question; one within it does not."""
    if gap is None or margin_nats is None:
        return None
    if abs(gap) > margin_nats:
        return False
    return None if bound else True


def _text_place(arm: Response, reference: Response) -> TextPlace | None:
    for channel in GENERATION_ORDER:
        ours, theirs = arm.channel(channel) or "", reference.channel(channel) or ""
        prefix = common_prefix(ours, theirs)
        if prefix < max(len(ours), len(theirs)):
            return TextPlace(channel, prefix)
    return None


def _continuation(response: Response, place: TextPlace | None) -> str:
    if place is None:
        return ""
    text = response.channel(place.channel) or ""
    return text[place.text_index : place.text_index + SHOWN_CHARACTERS]


def _candidates(arm: Response, reference: Response, index: int) -> tuple[Candidate | None, Candidate | None]:
    """Both sides' tokens at `index`, each with its log probability on both sides; `None` where one ended."""
    return _candidate(arm, index, arm, reference), _candidate(reference, index, arm, reference)


def _candidate(owner: Response, index: int, arm: Response, reference: Response) -> Candidate | None:
    ids = owner.token_ids or ()
    if index >= len(ids):
        return None
    entry = _entry(owner, index)
    name = entry.get("token") if entry else f"token_id:{ids[index]}"
    return Candidate(
        token=ids[index],
        in_reference=_logprob(_entry(reference, index), name),
        in_arm=_logprob(_entry(arm, index), name),
    )


def _entry(response: Response, index: int) -> Mapping[str, Json] | None:
    """The log probability entry of a token; none unless entries and token ids are one to one."""
    entries, ids = response.logprobs, response.token_ids
    if entries is None or ids is None or len(entries) != len(ids) or index >= len(entries):
        return None
    return entries[index]


def _logprob(entry: Mapping[str, Json] | None, token: Json) -> float | None:
    if entry is None:
        return None
    listed = [entry, *(entry.get("top_logprobs") or ())]
    found = (each.get("logprob") for each in listed if each.get("token") == token)
    return next((float(value) for value in found if isinstance(value, int | float)), None)


def _gap(
    reference: Response, index: int, ours: Candidate | None, theirs: Candidate | None
) -> tuple[float | None, bool]:
    """Gap in nats on the reference's side, and whether it is only a lower bound.

    Where the arm's token is not among the reference's listed candidates, it is less probable than all.
    """
    if ours is None or theirs is None or theirs.in_reference is None:
        return None, False
    if ours.in_reference is not None:
        return theirs.in_reference - ours.in_reference, False
    entry = _entry(reference, index) or {}
    listed = [each.get("logprob") for each in entry.get("top_logprobs") or ()]
    values = [float(value) for value in listed if isinstance(value, int | float)]
    return (theirs.in_reference - min(values), True) if len(values) > 1 else (None, False)


def _notes(arm: Response, reference: Response, by_ids: bool, parted: bool) -> list[str]:
    notes = []
    if arm.finish_reason != reference.finish_reason:
        notes.append(f"finish_reason: {arm.finish_reason} against {reference.finish_reason}")
    ours, theirs = _tokens(arm), _tokens(reference)
    if by_ids and not parted and _whole_text(arm) != _whole_text(reference):
        notes.append("text_differs: the token ids agree, the texts read from them do not")
    elif by_ids and not parted and _characters(arm) != _characters(reference):
        notes.append("channels_differ: the token ids agree, the texts stand in other channels")
    if ours is None or theirs is None or by_ids:
        return notes
    if not parted and ours != theirs:
        notes.append(f"token_counts_differ: {ours} against {theirs} tokens for the same text")
    if parted and ours == theirs and (side := _prefix_side(arm, reference)):
        notes.append(f"text_shorter_than_tokens: of {ours} tokens each, the {side}'s text is a mere prefix")
    return notes


def _prefix_side(arm: Response, reference: Response) -> Literal["arm", "reference"] | None:
    ours, theirs = _whole_text(arm), _whole_text(reference)
    if theirs.startswith(ours):
        return "arm"
    return "reference" if ours.startswith(theirs) else None


def _tokens(response: Response) -> int | None:
    return response.usage.completion_tokens if response.usage else None
