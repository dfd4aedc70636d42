"""Judging an answer by a contract: every breach as a violation, and the verdict of one exchange."""

from __future__ import annotations

from itertools import islice

from armgate.judging import limits
from armgate.judging.causes import cause_of, findings_of
from armgate.judging.clauses.breach import Breach
from armgate.judging.clauses.registry import CLAUSES, NOT_OF_BARE_TEXTS
from armgate.judging.subject import Subject
from armgate.model.base import Json
from armgate.model.contract import Clause, Contract
from armgate.model.evidence import Sample
from armgate.model.exchange import Exchange
from armgate.model.judgement import Judgement
from armgate.model.outcome import Outcome, SampleVerdict, Violation
from armgate.model.response import Response, Void
from armgate.model.soundness import void_of


def judge_contract(contract: Contract, subject: Subject) -> tuple[Violation, ...]:
    """All violations of `contract` by `subject`, clause by clause as declared. Never raises.

    A clause lists its first hundred breaches; one more violation then says that there are others.
    """
    return tuple(violation for clause in contract.clauses for violation in clause_violations(clause, subject))


def clause_violations(clause: Clause, subject: Subject) -> list[Violation]:
    """What `subject` breaches of one clause, a hundred places at most."""
    name = clause.name
    if subject.bare and name in NOT_OF_BARE_TEXTS:
        return []
    found = list(islice(CLAUSES[name](clause.options, subject), limits.BREACHES + 1))
    violations = [_violation(name, breach) for breach in found[: limits.BREACHES]]
    if len(found) > limits.BREACHES:
        message = f"more than {limits.BREACHES} breaches; the rest is not listed"
        violations.append(_violation(name, found[-1]._replace(kind="and_more", message=message)))
    return violations


def _violation(clause: str, breach: Breach) -> Violation:
    return Violation(
        clause=clause, message=breach.message, channel=breach.channel, span=breach.span, kind=breach.kind
    )


def judge_subject(contract: Contract, subject: Subject, void: Void | None = None) -> Judgement:
    """The judgement of one answer; a void one is judged by no clause, for it carries no verdict."""
    sound = void is None or void.fails_as is not None
    violations = judge_contract(contract, subject) if sound else ()
    if void is not None and void.fails_as is not None:
        lost = Violation(clause="response", message=void.message, family=void.fails_as, kind=void.cause)
        violations = (lost, *violations)
    cause = void.cause if void is not None else cause_of(subject, violations)
    return Judgement(
        contract=contract.id,
        outcome=(Outcome.FAILED if violations else Outcome.PASSED) if sound else Outcome.VOID,
        cause=cause,
        message=void.message if void is not None else None,
        violations=violations,
        findings=findings_of(subject),
        not_applicable=not_applicable(contract, subject),
        tolerances=tolerances(contract),
    )


def not_applicable(contract: Contract, subject: Subject) -> tuple[str, ...]:
    """Clauses of the contract about what this answer, a bare text, does not tell."""
    names = (clause.name for clause in contract.clauses)
    return tuple(name for name in names if subject.bare and name in NOT_OF_BARE_TEXTS)


def judge_exchange(
    contract: Contract, exchange: Exchange, response: Response, void: Void | None = None
) -> Judgement:
    """The judgement of a recorded exchange. `void` is what is known besides: see `soundness.void_of`."""
    return judge_subject(
        contract, Subject.of_exchange(exchange, response), void or void_of(exchange, response)
    )


def judge_text(contract: Contract, text: str) -> Judgement:
    """The judgement of a bare answer."""
    return judge_subject(contract, Subject.of_text(text))


def judge_sample(contract: Contract, sample: Sample) -> SampleVerdict:
    """The verdict of a gate's sample."""
    judged = judge_subject(contract, Subject.of_exchange(sample.exchange, sample.response), sample.void)
    detail: dict[str, Json] = {"contract": contract.id, "tolerances": judged.tolerances}
    if judged.message is not None:
        detail["message"] = judged.message
    return SampleVerdict(
        sample=sample.id,
        outcome=judged.outcome,
        cause=judged.cause,
        violations=judged.violations,
        evidence=(sample.path,),
        detail=detail,
    )


def tolerances(contract: Contract) -> dict[str, Json]:
    """The options that a contract states, by clause: the tolerance that its verdicts rest on."""
    out: dict[str, Json] = {}
    for clause in contract.clauses:
        stated = clause.tolerances
        if stated:
            out[clause.name] = [*out.get(clause.name, []), stated]
    return out
