"""What option types share: the channel judged, where the text is taken from, ranges, checked patterns."""

from __future__ import annotations

from typing import Annotated, Literal

import re2
from pydantic import AfterValidator, Field, model_validator

from armgate.model.base import AsDeclared

TextChannel = Literal["content", "reasoning"]
Source = Literal["channel", "fenced_block"]
"""What is judged: the channel verbatim, or the text of its only fenced block (a declared tolerance)."""


class ClauseOptions(AsDeclared):
    """Base of every clause's options. Defaults are the strict reading; each tolerance is an option."""


class ChannelOptions(ClauseOptions):
    channel: TextChannel = "content"


class Range(AsDeclared):
    """An inclusive range; at least one bound."""

    min: Annotated[int, Field(ge=0)] | None = None
    max: Annotated[int, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _is_a_range(self) -> Range:
        if self.min is None and self.max is None:
            raise ValueError("give min, max or both")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"min {self.min} is above max {self.max}")
        return self

    def holds(self, value: int) -> bool:
        return (self.min is None or value >= self.min) and (self.max is None or value <= self.max)

    def __str__(self) -> str:
        if self.max is None:
            return f"at least {self.min}"
        if self.min is None:
            return f"at most {self.max}"
        return f"exactly {self.min}" if self.min == self.max else f"{self.min} to {self.max}"


PATTERN_MEMORY_BYTES = 64 << 20


def compiled(pattern: str) -> re2._Regexp:
    """RE2 of a declared pattern; matching is linear in the text, whatever the pattern. Raises re2.error."""
    options = re2.Options()
    options.max_mem = PATTERN_MEMORY_BYTES
    options.log_errors = False
    return re2.compile(pattern, options)


def _is_re2(pattern: str) -> str:
    try:
        compiled(pattern)
    except re2.error as error:
        said = error.args[0] if error.args else error
        text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        raise ValueError(f"not a pattern of RE2 (no lookaround, no backreferences): {text}") from None
    return pattern


Pattern = Annotated[str, AfterValidator(_is_re2)]
"""An RE2 pattern, checked when the contract is loaded."""
