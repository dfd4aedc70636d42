"""Code tasks: what is asked, the cases, how values are compared, and the limits of one case."""

from __future__ import annotations

import ast
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from armgate.model.base import AsDeclared, Digest, Frozen, Name
from armgate.model.execution import Limits
from armgate.model.plain import Comparison, NotPlainError, Plain, encode

Entry = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class Case(AsDeclared):
    """One fixed case. Functions: `args` and `expect`; programs: `stdin` and `stdout`.

    What YAML cannot say (tuples, sets, bytes, keys that are no strings) is written as a Python literal:
    `args_literal: "[(1, 2)]"`, `expect_literal: "{1: 'one'}"`.
    """

    args: list[Any] | None = None
    args_literal: str | None = None
    expect: Any = None
    expect_literal: str | None = None
    stdin: str | None = None
    stdout: str | None = None
    compare: Comparison | None = None
    says: str | None = None

    @model_validator(mode="after")
    def _is_of_one_kind(self) -> Case:
        given = self.model_fields_set
        program = {"stdin", "stdout"} & given
        function = {"args", "args_literal", "expect", "expect_literal"} & given
        if program and (function or len(program) != 2):
            raise ValueError("a program's case is exactly stdin and stdout")
        if not program:
            for name in ("args", "expect"):
                if (name in given) == (f"{name}_literal" in given):
                    raise ValueError(f"a function's case has exactly one of {name} and {name}_literal")
            self._check_values()
        return self

    def _check_values(self) -> None:
        try:
            encode(self.arguments)
            encode(self.expected)
        except NotPlainError as error:
            raise ValueError(str(error)) from None

    @property
    def is_program(self) -> bool:
        return self.stdin is not None

    @property
    def arguments(self) -> list[Plain]:
        value = self.args if self.args_literal is None else _read_literal(self.args_literal)
        if not isinstance(value, list):
            raise ValueError("args_literal is a list of arguments")
        return value

    @property
    def expected(self) -> Plain:
        return self.expect if self.expect_literal is None else _read_literal(self.expect_literal)


def _read_literal(text: str) -> Plain:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise ValueError(f"not a Python literal: {text[:80]!r}") from None


class Generated(Frozen):
    """Seeded cases: `generate(seed, count)` in `generator` gives the inputs (argument lists, or stdin texts),
    `reference` is a right answer. Both run in a sandbox, never in the one that an answer sees."""

    generator: str
    reference: str
    seed: int = 827
    count: Annotated[int, Field(ge=1, le=10_000)] = 200


class TaskLimits(Frozen):
    """`Limits` as declared: whole numbers are welcome, the defaults are those of the design."""

    cpu_s: Annotated[float, Field(gt=0, le=600)] = 2.0
    wall_s: Annotated[float, Field(gt=0, le=3600)] = 8.0
    memory_mb: Annotated[int, Field(ge=64, le=65536)] = 256
    output_kb: Annotated[int, Field(ge=1, le=65536)] = 256
    scratch_mb: Annotated[int, Field(ge=1, le=65536)] = 64

    @model_validator(mode="after")
    def _wall_is_the_wider(self) -> TaskLimits:
        if self.wall_s < self.cpu_s:
            raise ValueError("wall_s below cpu_s would fail honest answers on a busy machine")
        return self

    def per_case(self) -> Limits:
        return Limits(**self.model_dump())


class Task(Frozen):
    """`task.yaml`. Paths in it are relative to its folder."""

    schema_: Literal["armgate/task/v1"] = Field(alias="schema")
    id: Name
    kind: Literal["function", "program"]
    entry: Entry | None = None
    prompt: str | None = None
    """A template; without one the task serves `armgate tasks run` and gates that bring their own probes."""
    says: str | None = None
    cases: tuple[Case, ...] = ()
    generated: Generated | None = None
    compare: Comparison = Comparison()
    arguments: Literal["any", "unmutated"] = "any"
    limits: TaskLimits = TaskLimits()

    @model_validator(mode="after")
    def _holds_together(self) -> Task:
        if not self.cases and self.generated is None:
            raise ValueError("a task without cases passes everything")
        if (self.entry is None) == (self.kind == "function"):
            raise ValueError("a function task names its entry, a program has none")
        if self.kind == "program" and self.arguments == "unmutated":
            raise ValueError("a program has no arguments to leave unmutated")
        for place, case in enumerate(self.cases):
            if case.is_program != (self.kind == "program"):
                raise ValueError(f"case {place} is not a {self.kind}'s case")
        return self


class LoadedTask(Frozen):
    """A task with the text of its files. `digest` covers all of them."""

    task: Task
    digest: Digest
    prompt: str | None
    generator: str | None = None
    reference: str | None = None

    @property
    def planned(self) -> int:
        generated = self.task.generated
        return len(self.task.cases) + (generated.count if generated else 0)

    def comparison(self, case: str) -> Comparison:
        """The comparison rule of a case by the name it has in records."""
        word, _, place = case.partition("-")
        own = self.task.cases[int(place)].compare if word == FIXED else None
        return own or self.task.compare


class Solution(Frozen):
    """An answer that a task ships to test its own cases: right in some style, or subtly wrong."""

    name: str
    right: bool
    text: str


FIXED, GENERATED = "fixed", "generated"
"""Cases are named `fixed-0`, `generated-17` in records."""
