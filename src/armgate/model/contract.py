"""Contracts: clauses as a file declares them, and the examples that a contract must agree with."""

from __future__ import annotations

import json
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from armgate.model.base import AsDeclared, Frozen, Json, Name
from armgate.model.clauses import hygiene, response, structured, text
from armgate.model.clauses.base import ClauseOptions


class Clause(AsDeclared):
    """One clause with its options: a map of exactly one key. A new clause is one line here."""

    finish: response.Finish | None = None
    answered: response.Answered | None = None
    reasoning: response.Reasoning | None = None
    tool_calls: response.ToolCalls | None = None
    tool_round_trip: response.ToolRoundTrip | None = None
    exact: text.Exact | None = None
    contains: text.Contains | None = None
    not_contains: text.NotContains | None = None
    regex: text.Regex | None = None
    length: text.Length | None = None
    script: text.Script | None = None
    language: text.Language | None = None
    plain_text: text.PlainText | None = None
    no_fence: text.NoFence | None = None
    one_fence: text.OneFence | None = None
    python: structured.Python | None = None
    json_: structured.JsonDocument | None = Field(None, alias="json")
    csv: structured.Csv | None = None
    no_reasoning_leak: hygiene.NoReasoningLeak | None = None
    no_special_tokens: hygiene.NoSpecialTokens | None = None
    no_replacement_characters: hygiene.NoReplacementCharacters | None = None
    no_invisible_characters: hygiene.NoInvisibleCharacters | None = None
    no_degeneration: hygiene.NoDegeneration | None = None

    @model_validator(mode="after")
    def _is_one_clause(self) -> Clause:
        given = sorted(self.model_fields_set)
        if len(given) != 1:
            raise ValueError(f"one clause to an item, found {', '.join(given) or 'none'}")
        if getattr(self, given[0]) is None:
            raise ValueError(f"{given[0]} has no options; write `{given[0]}: {{}}`")
        return self

    @property
    def name(self) -> str:
        """As written in the file."""
        return next(iter(self.model_fields_set)).rstrip("_")

    @property
    def options(self) -> ClauseOptions:
        options: ClauseOptions = getattr(self, next(iter(self.model_fields_set)))
        return options

    @property
    def tolerances(self) -> dict[str, Json]:
        """The options that the file states, to be named beside the verdict."""
        stated: dict[str, Json] = self.options.model_dump(mode="json", by_alias=True)
        return stated


CLAUSE_NAMES = tuple(name.rstrip("_") for name in Clause.model_fields)


class ExampleCall(AsDeclared):
    """A tool call of an example. `arguments` is the text as sent, or an object that is written as JSON."""

    name: str
    arguments: str | dict[str, Json] = "{}"
    id: str | None = "call_1"

    @property
    def arguments_text(self) -> str:
        if isinstance(self.arguments, str):
            return self.arguments
        return json.dumps(self.arguments, ensure_ascii=False)


Breached = Annotated[str, StringConstraints(pattern=r"^[a-z_]+(:[a-z_]+)?$")]
"""A clause, or `clause:kind` where the example also pins how it is breached."""


class Example(AsDeclared):
    """One example: `text` is a bare answer, complete and stopped; the other keys describe a response.

    `violates` names every clause that the example breaches and is empty for a passing one. `max_tokens`,
    `tools` and `messages` are those of the request.
    """

    text: str | None = None
    content: str | None = None
    reasoning: str | None = None
    tool_calls: tuple[ExampleCall, ...] = ()
    finish: str | None = "stop"
    completion_tokens: Annotated[int, Field(ge=0)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    tools: tuple[str, ...] = ()
    messages: tuple[dict[str, Json], ...] = ()
    violates: tuple[Breached, ...] = ()
    says: str | None = None

    @model_validator(mode="after")
    def _is_bare_or_a_response(self) -> Example:
        described = self.model_fields_set - {"text", "violates", "says"}
        if self.text is not None and described:
            raise ValueError(f"text is a bare answer; {', '.join(sorted(described))} describe a response")
        if self.text is None and not described:
            raise ValueError("give text (a bare answer), or content, reasoning, tool_calls, finish, ...")
        return self


class Examples(Frozen):
    """Examples of an answer that holds and of answers that do not."""

    pass_: tuple[str | Example, ...] = Field((), alias="pass")
    """A text alone is a bare answer."""
    fail: tuple[Example, ...] = ()

    @property
    def passing(self) -> tuple[Example, ...]:
        return tuple(Example(text=item) if isinstance(item, str) else item for item in self.pass_)

    @model_validator(mode="after")
    def _say_what_is_expected(self) -> Examples:
        if any(example.violates for example in self.passing):
            raise ValueError("a passing example violates nothing")
        if not all(example.violates for example in self.fail):
            raise ValueError("a failing example names the clauses that it violates")
        return self


class Contract(Frozen):
    """A strict promise about a response's form. Its examples are part of it."""

    schema_: Literal["armgate/contract/v1"] = Field(alias="schema")
    id: Name
    says: str
    clauses: tuple[Clause, ...] = Field(min_length=1)
    examples: Examples = Examples()

    @model_validator(mode="after")
    def _expects_its_own_clauses(self) -> Contract:
        own = {clause.name for clause in self.clauses}
        for example in self.examples.fail:
            for breached in example.violates:
                if breached.partition(":")[0] not in own:
                    raise ValueError(f"an example violates {breached!r}, which is no clause of this contract")
        return self
