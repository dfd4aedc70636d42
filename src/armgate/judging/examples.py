"""A contract's self test: each of its examples breaches exactly the clauses that it says it does."""

from __future__ import annotations

import dataclasses

from armgate.judging.contract import judge_contract
from armgate.judging.subject import Subject
from armgate.model.base import Json
from armgate.model.contract import Contract, Example
from armgate.model.outcome import Violation
from armgate.model.response import Response, ToolCall, Usage


@dataclasses.dataclass(frozen=True)
class BrokenExample:
    """An example that does not do what it says, or one that is missing (`number` is then 0)."""

    which: str
    """`pass` or `fail`."""
    number: int
    """Of the examples of that kind, from 1."""
    message: str
    violations: tuple[Violation, ...] = ()

    def __str__(self) -> str:
        place = f"{self.which} example {self.number}" if self.number else f"{self.which} examples"
        return f"{place}: {self.message}"


def failing_examples(contract: Contract) -> tuple[BrokenExample, ...]:
    """Examples that do not hold. A contract without one of each kind shows nothing and fails as well."""
    broken = []
    for which, examples in (("pass", contract.examples.passing), ("fail", contract.examples.fail)):
        if not examples:
            broken.append(BrokenExample(which, 0, "there is none, so nothing shows what the contract does"))
        for number, example in enumerate(examples, start=1):
            found = _judged(contract, which, number, example)
            broken += [found] if found is not None else []
    return tuple(broken)


def _judged(contract: Contract, which: str, number: int, example: Example) -> BrokenExample | None:
    violations = judge_contract(contract, subject_of(example))
    expected = set(example.violates)
    by_clause = {name for name in expected if ":" not in name}
    seen = {violation.clause for violation in violations}
    wanted = {name.partition(":")[0] for name in expected}
    kinds = {f"{violation.clause}:{violation.kind}" for violation in violations}
    if seen == wanted and expected - by_clause <= kinds:
        return None
    found = ", ".join(sorted(kinds)) or "nothing"
    said = ", ".join(sorted(expected)) or "nothing"
    return BrokenExample(which, number, f"violates {found}; expected {said}", violations)


def subject_of(example: Example) -> Subject:
    """The answer that an example describes."""
    if example.text is not None:
        return Subject.of_text(example.text)
    request: dict[str, Json] = {"messages": list(example.messages)}
    if example.tools:
        request["tools"] = [{"type": "function", "function": {"name": name}} for name in example.tools]
    calls = tuple(
        ToolCall(index=index, id=call.id, name=call.name, arguments=call.arguments_text)
        for index, call in enumerate(example.tool_calls)
    )
    tokens = example.completion_tokens
    response = Response(
        content=example.content,
        reasoning=example.reasoning,
        tool_calls=calls,
        finish_reason=example.finish,
        usage=None if tokens is None else Usage(completion_tokens=tokens),
    )
    return Subject(response, request=request, cap_tokens=example.max_tokens)
