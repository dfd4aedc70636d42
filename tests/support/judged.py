"""One clause on one answer: the shortest way to say in a test what breaches what."""

from __future__ import annotations

import json
from typing import Any

from armgate.judging.contract import judge_contract
from armgate.judging.subject import Subject
from armgate.model.contract import Contract
from armgate.model.outcome import Violation
from armgate.model.response import Response


def contract_of(*clauses: dict[str, Any]) -> Contract:
    declared = {"schema": "armgate/contract/v1", "id": "one", "says": "a test", "clauses": clauses}
    return Contract.model_validate_json(json.dumps(declared), strict=True)


def judged(clause: dict[str, Any], answer: str | Response | Subject) -> tuple[Violation, ...]:
    """Violations of one clause by a bare text, a response, or a whole subject."""
    if isinstance(answer, str):
        answer = Subject.of_text(answer)
    elif isinstance(answer, Response):
        answer = Subject(answer)
    return judge_contract(contract_of(clause), answer)


def kinds(clause: dict[str, Any], answer: str | Response | Subject) -> list[str]:
    return [str(violation.kind) for violation in judged(clause, answer)]


def quoted(violation: Violation, text: str) -> str:
    """What stands at the violation's span in its channel's text."""
    assert violation.span is not None
    start, end = violation.span
    return text.encode("utf-8", "surrogatepass")[start:end].decode("utf-8", "surrogatepass")
