"""Options of clauses that parse: Python source and JSON documents."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import Annotated, Literal

from jsonschema.protocols import Validator
from pydantic import AfterValidator, Field, model_validator

from armgate.model.base import AsDeclared, Json
from armgate.model.clauses.base import ChannelOptions, Range, Source
from armgate.model.clauses.json_schema import check_schema, validator_of


def signature_of(text: str) -> ast.FunctionDef | None:
    """`name(a, b=1) -> list` as a parsed definition, `None` for a bare name. Raises ValueError."""
    if text.isidentifier():
        return None
    try:
        tree = ast.parse(f"def {text}: ...")
    except (SyntaxError, ValueError):
        raise ValueError(f"{text!r} is neither a name nor a signature such as `f(a, b=1) -> int`") from None
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef):
        raise ValueError(f"{text!r} is not one signature")
    return tree.body[0]


def _is_signature(text: str) -> str:
    signature_of(text)
    return text


Signature = Annotated[str, AfterValidator(_is_signature)]
"""A function's name, or its name with parameters and, where they matter, annotations and defaults."""


class Python(ChannelOptions):
    """The text is Python source, whole, by the grammar of the interpreter that judges it.

    `defines`: functions or classes at top level; a signature's parameter names and kinds are compared,
    its annotations and defaults where it gives them. `imports`: `none`, `any`, or the modules allowed.
    `top_level: definitions` allows functions, classes, imports and a module docstring; with `constants`
    also assignments of literal values. Requirements on hints, docstrings and comments are about the
    functions that `defines` names, or about all functions at top level where it names none.
    """

    source: Source = "channel"
    parses: Literal[True] = True
    defines: Signature | tuple[Signature, ...] = ()
    imports: Literal["none", "any"] | tuple[str, ...] = "any"
    top_level: Literal["any", "definitions", "definitions_and_constants"] = "any"
    type_hints: Literal["required", "any"] = "any"
    docstring: Literal["required", "any"] = "any"
    comments: Literal["required", "any", "forbidden"] = "any"

    @property
    def definitions(self) -> tuple[str, ...]:
        return (self.defines,) if isinstance(self.defines, str) else self.defines


def _is_schema(schema: Json) -> Json:
    check_schema(schema)
    return schema


JsonSchema = Annotated[Json, AfterValidator(_is_schema)]


class JsonDocument(ChannelOptions):
    """The text is one JSON value (RFC 8259) with nothing around it but JSON white space.

    Always breaches: NaN and Infinity, numbers that overflow, trailing text. Breaches unless declared:
    duplicate keys, integers beyond 2**53 - 1, lone surrogates, white space around the value. `value` is
    compared type by type (`true` is not 1, `1.0` is not 1; `numbers: by_value` makes the latter equal);
    `schema` is JSON Schema 2020-12, where `1.0` is an integer unless `integral_floats: refused`.
    """

    source: Source = "channel"
    schema_: JsonSchema = Field(None, alias="schema")
    value: Json = None
    top_level: Literal["any", "object", "array"] = "any"
    keys: tuple[str, ...] | None = None
    """The keys of the top-level object: exactly these, in any order."""
    numbers: Literal["typed", "by_value"] = "typed"
    integral_floats: Literal["accepted", "refused"] = "accepted"
    duplicate_keys: Literal["refused", "allowed"] = "refused"
    big_integers: Literal["refused", "allowed"] = "refused"
    lone_surrogates: Literal["refused", "allowed"] = "refused"
    whitespace_around: Literal["allowed", "refused"] = "allowed"

    @property
    def has_value(self) -> bool:
        """`value: null` is a value to compare with; an absent one is not."""
        return "value" in self.model_fields_set

    @cached_property
    def validator(self) -> Validator | None:
        if "schema_" not in self.model_fields_set:
            return None
        return validator_of(self.schema_, self.integral_floats == "accepted")


class Csv(ChannelOptions):
    """The text is a table of comma-separated values (RFC 4180): the same number of cells in every row."""

    source: Source = "channel"
    header: tuple[str, ...] | None = None
    columns: Annotated[int, Field(ge=1)] | None = None
    rows: Range | None = None
    """Rows without the header, where one is declared."""
    delimiter: Literal[",", ";", "\t"] = ","

    @model_validator(mode="after")
    def _agrees(self) -> Csv:
        if self.header is not None and self.columns is not None and self.columns != len(self.header):
            raise ValueError(f"columns is {self.columns}, but the header names {len(self.header)}")
        return self


class CallShape(AsDeclared):
    """One expected tool call. `arguments` is compared type by type; `schema` is JSON Schema 2020-12."""

    name: str
    arguments: dict[str, Json] | None = None
    schema_: JsonSchema = Field(None, alias="schema")

    @cached_property
    def validator(self) -> Validator | None:
        return validator_of(self.schema_) if "schema_" in self.model_fields_set else None
