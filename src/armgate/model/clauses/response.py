"""Options of clauses about the response around its text: finish, reasoning, tool calls."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from armgate.model.clauses.base import ClauseOptions, Range
from armgate.model.clauses.structured import CallShape


class Finish(ClauseOptions):
    """How the answer ended. A natural stop is `stop` and fewer tokens than the cap that was asked for."""

    reason: str | tuple[str, ...] = "stop"
    below_cap: bool = True

    @property
    def reasons(self) -> tuple[str, ...]:
        return (self.reason,) if isinstance(self.reason, str) else self.reason


class Answered(ClauseOptions):
    """The content channel holds text: it is neither null nor empty nor white space alone."""


class Reasoning(ClauseOptions):
    """Whether the reasoning channel holds text. White space alone is no reasoning."""

    presence: Literal["required", "forbidden"]
    characters: Range | None = None

    @model_validator(mode="after")
    def _measures_what_is_required(self) -> Reasoning:
        if self.presence == "forbidden" and self.characters is not None:
            raise ValueError("characters belongs to presence: required")
        return self


class ToolCalls(ClauseOptions):
    """Tool calls of the response.

    `count: 0` expects none. `calls` gives the calls expected, in order unless `order: any`; their number
    is then the count. Arguments are always one JSON object, strictly parsed; names must be among the
    tools of the request where it is known.
    """

    count: Annotated[int, Field(ge=0)] | Range | None = None
    calls: tuple[CallShape, ...] = ()
    order: Literal["as_given", "any"] = "as_given"
    text_beside: Literal["allowed", "refused"] = "allowed"
    """Whether the content may hold text beside the calls."""

    @model_validator(mode="after")
    def _expects_something(self) -> ToolCalls:
        if self.count is None and not self.calls:
            raise ValueError("give count (0: none expected), calls or both")
        if self.calls and isinstance(self.count, int) and self.count != len(self.calls):
            raise ValueError(f"count is {self.count}, but calls names {len(self.calls)}")
        return self

    @property
    def expected(self) -> Range:
        if isinstance(self.count, Range):
            return self.count
        number = len(self.calls) if self.count is None else self.count
        return Range(min=number, max=number)


class ToolRoundTrip(ClauseOptions):
    """The answer to a conversation that ends with tool results.

    Every tool call in the request has its result under the same id. With `answer_from`, a JSON pointer
    (RFC 6901) into the last result, the content is (`exact`) or contains (`contains`) that value.
    """

    answer_from: Annotated[str, StringConstraints(pattern=r"^(/.*)?$")] | None = None
    how: Literal["exact", "contains"] = "exact"
    further_calls: Literal["refused", "allowed"] = "refused"
