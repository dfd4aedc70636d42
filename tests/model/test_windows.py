"""Lengths as counted and as reported, and limits that servers settle on."""

from __future__ import annotations

from typing import Any

import pytest

from armgate.model.haystack import CountCheck
from armgate.model.response import Usage
from armgate.model.windows import PromptLength, limit_below, limits_in_log, smallest_limit


def length(counted: int, reported: int | None, **context: Any) -> PromptLength:
    return PromptLength.of({"prompt_tokens": counted, **context}, Usage(prompt_tokens=reported))


@pytest.mark.parametrize(
    ("reported", "off"), [(8000, False), (8008, False), (8009, True), (7991, True), (10400, True)]
)
def test_a_length_is_called_what_it_was_within_a_thousandth(reported: int, off: bool) -> None:
    assert length(8000, reported).label_is_off is off


def test_long_prompts_may_differ_by_a_thousandth() -> None:
    assert not length(120_000, 120_100).label_is_off
    assert length(120_000, 120_130).label_is_off


@pytest.mark.parametrize(
    ("check", "reported", "cut"),
    [
        (None, 591, True),
        (None, 592, False),
        ({"counted": 8, "served": 8}, 591, True),
        ({"counted": 8, "served": 6}, 450, False),
        ({"counted": 8, "served": None}, 450, False),
        (None, None, False),
    ],
)
def test_only_a_counter_that_agrees_proves_a_cut_to_the_token(
    check: dict[str, Any] | None, reported: int | None, cut: bool
) -> None:
    assert length(600, reported, count_check=check).is_cut is cut


@pytest.mark.parametrize(
    ("counted", "served", "least"), [(8, 8, 600), (8, None, 600), (8, 6, 450), (30, 31, 601), (40, 38, 570)]
)
def test_the_least_that_a_whole_prompt_may_be_reported_as(
    counted: int, served: int | None, least: int
) -> None:
    assert CountCheck(counted=counted, served=served).least_served(600) == least


@pytest.mark.parametrize(
    ("counted", "served", "most"), [(8, 8, 600), (8, None, 600), (8, 6, 600), (30, 31, 620), (40, 41, 615)]
)
def test_the_most_that_a_prompt_may_be_to_the_server(counted: int, served: int | None, most: int) -> None:
    assert CountCheck(counted=counted, served=served).most_served(600) == most


def test_without_counts_nothing_is_said() -> None:
    bare = PromptLength.of({}, None)
    assert (bare.actual, bare.relative_error, bare.label_is_off, bare.is_cut) == (None, None, False, False)


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("TRT GptModel maxInputLen: 8192 = min(maxSequenceLen - 1, maxNumTokens)", ("max_input_len", 8192)),
        ("max_total_num_tokens=64832, chunked_prefill_size=2048", ("max_total_num_tokens", 64832)),
        ("max_running_requests=1, context_len=65536", ("context_len", 65536)),
        ("llama_context: n_ctx_per_seq = 4096", ("n_ctx_per_sequence", 4096)),
        ("llama_context: n_ctx_seq (4096) < n_ctx_train (131072)", ("n_ctx_per_sequence", 4096)),
        ("slot init: id  0 | task -1 | new slot n_ctx_slot = 2048", ("n_ctx_slot", 2048)),
    ],
)  # fmt: skip
def test_limits_that_only_a_log_tells(line: str, fact: tuple[str, int]) -> None:
    assert limits_in_log(f"before\n{line}\nafter") == dict([fact])


def test_the_tightest_limit_below_the_promise_is_told() -> None:
    reported, logged = {"max_model_len": 8192, "root": "m"}, {"kv_cache_tokens": 6000, "n_ctx_slot": 7000}
    assert smallest_limit(reported, logged) == (6000, "kv_cache_tokens")
    assert limit_below(8192, reported, logged) == (6000, "kv_cache_tokens")
    assert limit_below(6000, reported, logged) is None
    assert limit_below(None, reported, logged) is None
    assert smallest_limit({"root": "m"}) is None
