"""Teacher forcing: an arm's tokens as its reference judges each of them after the tokens before it."""

from __future__ import annotations

from typing import Literal

from armgate.model.base import Frozen
from armgate.model.exchange import Exchange
from armgate.model.measures import Interval, Measure


class ReplayedAnswer(Frozen):
    """One replay as recorded: the exchange whose prompt is an answer's prompt and tokens, and its place."""

    sample: str
    path: str
    """Of the exchange file, relative to the folder of the boot that is judged."""
    prompt_tokens: int
    """How many of the replayed ids are the prompt's; the rest are the answer's."""
    exchange: Exchange


class Flip(Frozen):
    """A place where the reference, after the same tokens, holds another token more likely."""

    index: int
    """In tokens of the answer."""
    token: int
    reference_token: int | None
    """`None` where the server lists the arm's token alone."""
    token_text: str | None
    reference_token_text: str | None
    logprob: float
    reference_logprob: float
    gap_nats: float


class ForcedAnswer(Frozen):
    """One answer against the reference, token by token."""

    sample: str
    state: Literal["judged", "void"]
    void_cause: str | None = None
    tokens: int = 0
    flips: int = 0
    worst: Flip | None = None
    """The flip with the widest gap; `None` where the reference would have said every token."""

    @property
    def worst_gap_nats(self) -> float:
        return self.worst.gap_nats if self.worst is not None else 0.0


class ForcedSide(Frozen):
    """Answers of one boot against the reference. The rate's exposure is every token: each one is judged
    after the arm's own tokens before it, so one flip does not condemn the rest."""

    answers: tuple[ForcedAnswer, ...]
    tokens: int
    flips: int
    worst_gap_nats: float
    per_1000_tokens: Measure
    per_1000_tokens_interval: Interval | None
