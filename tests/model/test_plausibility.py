from __future__ import annotations

from typing import Any

import pytest

from armgate.model.plausibility import TextSize, usage_of
from armgate.model.response import Usage


def usage(sent: dict[str, Any], size: TextSize, cap: int | None = None) -> Usage:
    return usage_of(sent, 1, size, cap)


def sent(prompt: int | None, completion: int | None, **more: Any) -> dict[str, Any]:
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": 99, **more}


def test_counts_are_read_and_kept_as_sent() -> None:
    said = sent(
        12, 30,
        prompt_tokens_details={"cached_tokens": 8}, completion_tokens_details={"reasoning_tokens": 4},
    )  # fmt: skip
    found = usage(said, TextSize(100, 20, 0))
    assert (found.prompt_tokens, found.completion_tokens, found.total_tokens) == (12, 30, 99)
    assert (found.cached_tokens, found.reasoning_tokens) == (8, 4)
    assert (found.trusted, found.doubts, found.as_sent) == (True, (), said)


def test_sglangs_place_for_reasoning_tokens() -> None:
    assert usage(sent(1, 30, reasoning_tokens=4), TextSize(100, 20, 0)).reasoning_tokens == 4


@pytest.mark.parametrize(
    ("completion", "size", "cap", "trusted", "doubt"),
    [
        (0, TextSize(70, 70, 0), None, False, "usage_zero_with_text"),
        (None, TextSize(70, 0, 0), None, False, "usage_missing"),
        (19503, TextSize(55, 0, 0), 512, False, "usage_implausible"),
        (1_000_000, TextSize(55, 0, 0), None, False, "usage_implausible"),
        (4301, TextSize(27, 14, 0), None, True, "text_shorter_than_tokens"),
        (31, TextSize(10, 0, 0), 64, True, "text_shorter_than_tokens"),
        (24, TextSize(40, 0, 1), 24, True, None),
        (57, TextSize(0, 0, 0), None, True, None),
        (3, TextSize(3, 0, 0), None, True, None),
        (True, TextSize(3, 0, 0), None, False, "usage_missing"),
        (-4, TextSize(3, 0, 0), None, False, "usage_missing"),
        ("3", TextSize(3, 0, 0), None, False, "usage_missing"),
    ],
)
def test_doubts(completion: Any, size: TextSize, cap: int | None, trusted: bool, doubt: str | None) -> None:
    found = usage(sent(9, completion), size, cap)
    assert (found.trusted, found.doubts) == (trusted, () if doubt is None else (doubt,))


@pytest.mark.parametrize("prompt", [0, None])
def test_no_prompt_tokens_is_unknown_and_not_zero(prompt: int | None) -> None:
    found = usage(sent(prompt, 5), TextSize(10, 0, 0))
    assert found.prompt_tokens is None
    assert "prompt_tokens_unreliable" in found.doubts


def test_zero_reasoning_tokens_beside_reasoning_are_a_placeholder() -> None:
    said = sent(15, 240, completion_tokens_details={"reasoning_tokens": 0})
    assert usage(said, TextSize(500, 490, 0)).reasoning_tokens is None
    assert usage(said, TextSize(500, 0, 0)).reasoning_tokens == 0
