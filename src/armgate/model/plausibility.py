"""Whether token counts can be true, seen against the text that arrived and the cap that was asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from armgate.model.base import Json
from armgate.model.response import Usage

_SPARE_TOKENS = 16
_SPARE_TOKENS_PER_CALL = 64
"""Tokens that leave no text behind: special tokens, markers of channels, markup of tool calls."""

_ABSURD = 256
"""Tokens per byte of text that no lost text explains."""


class TextSize(NamedTuple):
    """How much text arrived, over all channels, and of it as reasoning."""

    all_bytes: int
    reasoning_bytes: int
    calls: int

    def explains(self, tokens: int) -> bool:
        """Whether so many tokens can be this text: each is a byte at least, bar those without text."""
        return tokens <= self.all_bytes + _SPARE_TOKENS + _SPARE_TOKENS_PER_CALL * self.calls


def usage_of(sent: Mapping[str, Json], reports: int, size: TextSize, cap_tokens: int | None) -> Usage:
    """The counts of a usage object, checked against the text that arrived and the cap that was asked.

    `cached_tokens` and `reasoning_tokens` are read from OpenAI's detail objects, the latter also from
    SGLang's place at the top. More tokens than text alone may be text that the server lost; with the
    cap exceeded too, the count itself is not believed.
    """
    prompt, completion = _count(sent.get("prompt_tokens")), _count(sent.get("completion_tokens"))
    reasoning = _detail(sent, "completion_tokens_details", "reasoning_tokens")
    doubts = _doubts(completion, size, cap_tokens)
    if "usage_zero_with_text" in doubts:
        completion = None
    if not prompt:
        prompt = None
        doubts.append("prompt_tokens_unreliable")
    if reasoning == 0 and size.reasoning_bytes:
        reasoning = None
        doubts.append("reasoning_tokens_placeholder")
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        total_tokens=_count(sent.get("total_tokens")),
        cached_tokens=_detail(sent, "prompt_tokens_details", "cached_tokens"),
        reasoning_tokens=reasoning,
        as_sent=dict(sent),
        reports=reports,
        trusted=completion is not None and "usage_implausible" not in doubts,
        doubts=tuple(doubts),
    )


def _doubts(completion: int | None, size: TextSize, cap_tokens: int | None) -> list[str]:
    if completion is None:
        return ["usage_missing"]
    if size.all_bytes == 0 or size.explains(completion):
        return ["usage_zero_with_text"] if completion == 0 and size.all_bytes else []
    over_cap = cap_tokens is not None and completion > cap_tokens
    if over_cap or completion > _ABSURD * (size.all_bytes + _SPARE_TOKENS):
        return ["usage_implausible"]
    return ["text_shorter_than_tokens"]


def _detail(sent: Mapping[str, Json], place: str, name: str) -> int | None:
    details = sent.get(place)
    inner = _count(details.get(name)) if isinstance(details, dict) else None
    return _count(sent.get(name)) if inner is None else inner


def _count(value: Json) -> int | None:
    return value if type(value) is int and value >= 0 else None
