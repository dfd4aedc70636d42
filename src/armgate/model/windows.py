"""How long a prompt was and what the server took of it: counted and reported lengths, limits as found."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from armgate.model.base import Frozen, Json
from armgate.model.haystack import CountCheck
from armgate.model.response import Usage

TOLERATED_TOKENS = 8
"""Between a counter that agrees with the server and the server's own report of a whole prompt."""

LABEL_TOLERANCE = 0.001
"""Relative error up to which a length may be called what it was counted as."""


class PromptLength(Frozen):
    """One prompt's tokens: counted before sending and by what, reported, and of these out of a cache."""

    counted: int | None = None
    counted_by: str | None = None
    count_check: CountCheck | None = None
    reported: int | None = None
    cached: int | None = None
    promised_window: int | None = None

    @classmethod
    def of(cls, context: Mapping[str, Json], usage: Usage | None) -> PromptLength:
        """From what was known at sending and what the server reported."""
        check = context.get("count_check")
        return cls(
            counted=context.get("prompt_tokens"),
            counted_by=context.get("counted_by"),
            count_check=CountCheck.model_validate(check) if check is not None else None,
            reported=usage.prompt_tokens if usage is not None else None,
            cached=usage.cached_tokens if usage is not None else None,
            promised_window=context.get("promised_window"),
        )

    @property
    def actual(self) -> int | None:
        """What results are labelled by: the server's report, else the count."""
        return self.counted if self.reported is None else self.reported

    @property
    def relative_error(self) -> float | None:
        """(reported - counted) / counted."""
        if not self.counted or self.reported is None:
            return None
        return (self.reported - self.counted) / self.counted

    @property
    def label_is_off(self) -> bool:
        """The prompt was of another length than it is called by more than templates explain."""
        if self.relative_error is None or self.counted is None or self.reported is None:
            return False
        far = abs(self.reported - self.counted) > TOLERATED_TOKENS
        return far and abs(self.relative_error) > LABEL_TOLERANCE

    @property
    def is_cut(self) -> bool:
        """By a counter that agreed on a short prompt: fewer tokens were served than were sent."""
        if self.counted is None or self.reported is None:
            return False
        agrees = self.count_check is None or self.count_check.agrees
        return agrees and self.reported < self.counted - TOLERATED_TOKENS


class WindowLimit(NamedTuple):
    """A limit in tokens that the server set itself, and where it said so."""

    tokens: int
    source: str


_LOGGED = {
    "max_input_len": re.compile(r"maxInputLen: (\d+) = min"),
    "max_total_num_tokens": re.compile(r"max_total_num_tokens=(\d+)"),
    "context_len": re.compile(r"context_len=(\d+)"),
    "n_ctx_per_sequence": re.compile(r"n_ctx_(?:per_)?seq\W+(\d+)"),
    "n_ctx_slot": re.compile(r"n_ctx_slot\W+(\d+)"),
}
"""What TensorRT-LLM, SGLang and llama.cpp log when they have settled on a length."""

LIMITS = ("max_model_len", "kv_cache_tokens", *_LOGGED)
"""Facts of a boot that bound the tokens of one request."""


def limits_in_log(log: str) -> dict[str, Json]:
    """Limits that only an engine's log tells, by stable names; the last mention counts."""
    found = {name: pattern.findall(log) for name, pattern in _LOGGED.items()}
    return {name: int(values[-1]) for name, values in found.items() if values}


def smallest_limit(*facts: Mapping[str, Json]) -> WindowLimit | None:
    """The tightest of the limits that a server reports or logs, `None` where it names none."""
    named = [
        WindowLimit(fact[name], name) for fact in facts for name in LIMITS if type(fact.get(name)) is int
    ]
    return min(named, default=None)


def limit_below(promised_tokens: int | None, *facts: Mapping[str, Json]) -> WindowLimit | None:
    """The effective limit where it is smaller than what the arm's settings promise."""
    limit = smallest_limit(*facts)
    if promised_tokens is None or limit is None or limit.tokens >= promised_tokens:
        return None
    return limit
