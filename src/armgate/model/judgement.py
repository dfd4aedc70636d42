"""The judgement of one answer by one contract, as `check` prints it and a sample's verdict carries it."""

from __future__ import annotations

from armgate.model.base import Frozen, Json
from armgate.model.outcome import Finding, Outcome, Violation


class Judgement(Frozen):
    """One answer under one contract. A void names its cause; a failure names what it comes from."""

    contract: str
    outcome: Outcome
    cause: str | None = None
    message: str | None = None
    violations: tuple[Violation, ...] = ()
    findings: tuple[Finding, ...] = ()
    not_applicable: tuple[str, ...] = ()
    """Clauses about what a bare text does not tell."""
    tolerances: dict[str, Json] = {}
    """Options as declared, by clause; a clause that stands twice has two entries."""
