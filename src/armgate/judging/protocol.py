"""The seam of checks, and what every check does alike: samples that cannot carry a verdict, and the sum."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Protocol

from armgate.judging.bounds import Bounds, bound_problems
from armgate.model.base import Json
from armgate.model.evidence import GateEvidence, Sample
from armgate.model.exchange import Fate
from armgate.model.gates import Gate
from armgate.model.outcome import (
    Diagnostic,
    Family,
    Finding,
    Outcome,
    SampleVerdict,
    Verdict,
    Violation,
    gate_outcome,
)
from armgate.model.plan import Plan


class Check(Protocol):
    """One kind of gate. A new kind is one module of this shape and one line in CHECKS."""

    family: Family
    """Of its gates, unless a ladder entry says otherwise."""
    compares: bool
    """Whether it needs the reference arm's samples; an arm that is its own reference sends them twice."""

    options: Mapping[str, type]
    """What a ladder entry may say under `options`, besides COMMON_OPTIONS."""

    bounds: Bounds
    """The figures that `threshold` may bound."""

    def problems(self, gate: Gate) -> Sequence[tuple[str, str]]:
        """(field, message) for everything this check needs and the ladder entry lacks or misuses."""
        ...

    def judge(self, evidence: GateEvidence, plan: Plan) -> Verdict:
        """The verdict, from recorded facts alone."""
        ...


COMMON_OPTIONS: Mapping[str, type] = {"fresh_prefix": bool, "isolated": bool}
"""`fresh_prefix: true` voids a sample of which any prompt token came out of a cache."""


def gate_problems(check: Check, gate: Gate) -> list[tuple[str, str]]:
    """Everything that is wrong with a ladder entry as far as its check knows, options included."""
    allowed = {**COMMON_OPTIONS, **check.options}
    found = [*check.problems(gate), *bound_problems(gate, check.bounds)]
    for name, value in gate.options.items():
        wanted = allowed.get(name)
        if wanted is None:
            there = ", ".join(sorted(allowed))
            found.append(("options", f"check {gate.check!r} has no option {name!r}; options: {there}"))
        elif type(value) is not wanted and not (wanted is float and type(value) is int):
            found.append(("options", f"option {name!r} is a {wanted.__name__}, found {value!r}"))
    return found


def needs(gate: Gate, *fields: str) -> list[tuple[str, str]]:
    """Problems for fields that a check cannot do without. A grid stands for the probes that it makes."""
    there = {field: getattr(gate, field) or (field == "probes" and gate.grid) for field in fields}
    return [(field, f"check {gate.check!r} needs {field!r}") for field in fields if not there[field]]


def unsound(sample: Sample, evidence: GateEvidence) -> SampleVerdict | None:
    """The verdict of a sample whose exchange decides it before any check looks; `None` if it is sound.

    In the order of the rules: a crash on this request, the gate's own deadline, then void.
    """
    exchange = sample.exchange
    if evidence.engine_died and _crashed_on(sample):
        return failed(
            sample, _runtime("engine_alive", f"the engine died on this request: {evidence.engine_died}")
        )
    deadline_s = evidence.gate.deadline_s
    if deadline_s is not None and (exchange.clock.end_s or 0.0) > deadline_s:
        return failed(sample, _runtime("deadline", f"not finished within {deadline_s:g} s"))
    void = sample.void
    if void is None:
        return None
    if void.fails_as is Family.RUNTIME or void.fails_as is evidence.family:
        violation = Violation(clause=void.cause, message=void.message, family=void.fails_as)
        return failed(sample, violation, cause=void.cause, **void.numbers)
    return SampleVerdict(
        sample=sample.id,
        outcome=Outcome.VOID,
        cause=void.cause,
        evidence=(sample.path,),
        detail={"message": void.message, **void.numbers},
    )


def _crashed_on(sample: Sample) -> bool:
    """Whether this request was in flight when the engine died. One that was refused came afterwards."""
    exchange = sample.exchange
    if exchange.fate is Fate.COMPLETE:
        return (exchange.status or 0) >= HTTPStatus.INTERNAL_SERVER_ERROR or bool(sample.response.errors)
    return exchange.fate is not Fate.REFUSED


def _runtime(clause: str, message: str) -> Violation:
    return Violation(clause=clause, message=message, family=Family.RUNTIME)


def passed(sample: Sample, **detail: Json) -> SampleVerdict:
    return SampleVerdict(sample=sample.id, outcome=Outcome.PASSED, evidence=_evidence(sample), detail=detail)


def failed(sample: Sample, *violations: Violation, cause: str | None = None, **detail: Json) -> SampleVerdict:
    return SampleVerdict(
        sample=sample.id,
        outcome=Outcome.FAILED,
        cause=cause,
        violations=violations,
        evidence=_evidence(sample),
        detail=detail,
    )


def _evidence(sample: Sample) -> tuple[str, ...]:
    return (sample.path,) if sample.execution_path is None else (sample.path, sample.execution_path)


def conclude(
    evidence: GateEvidence,
    samples: Sequence[SampleVerdict],
    violations: Iterable[Violation] = (),
    findings: Iterable[Finding] = (),
    diagnostics: Iterable[Diagnostic] = (),
    measurements: Mapping[str, Json] | None = None,
    without_figure: Sequence[str] = (),
) -> Verdict:
    """The gate's verdict from its samples' and, where the gate as a whole broke a promise, `violations`.

    `without_figure` tells the bounds that no figure was there for: what is not known is no pass.
    """
    gate = evidence.gate
    planned = max(evidence.planned_samples, 1)
    wanted = gate.threshold.passes or planned
    outcomes = [sample.outcome for sample in samples]
    outcome = gate_outcome(outcomes, planned, wanted, gate.min_samples or planned)
    found = tuple(violations)
    if found:
        outcome = Outcome.FAILED
    unheld = without_figure if outcome is Outcome.PASSED else ()
    if unheld:
        outcome = Outcome.VOID
    return Verdict(
        gate=gate.id,
        check=gate.check,
        family=evidence.family,
        required=gate.required,
        outcome=outcome,
        cause="bound_without_figure" if unheld else _cause(outcome, samples, planned),
        message="; ".join(unheld) or _message(outcome, samples, found, planned),
        violations=found,
        samples=tuple(samples),
        findings=tuple(findings),
        diagnostics=tuple(diagnostics),
        measurements=dict(measurements or {}),
        open_bounds=_bounds(outcomes, planned) if outcome is Outcome.VOID else None,
    )


def never_only_cold(verdicts: Sequence[SampleVerdict], samples: Sequence[Sample]) -> list[SampleVerdict]:
    """A probe of which only the boot's first request was sent has no figure: void, and never a pass."""
    warm = {sample.probe.id for sample in samples if not sample.cold}
    lost = {sample.id for sample in samples if sample.cold and sample.probe.id not in warm}
    return [
        v.model_copy(update={"outcome": Outcome.VOID, "cause": "only_the_cold_request"})
        if v.sample in lost and v.outcome is Outcome.PASSED
        else v
        for v in verdicts
    ]


def _cause(outcome: Outcome, samples: Sequence[SampleVerdict], planned: int) -> str | None:
    if outcome in (Outcome.PASSED, Outcome.SKIPPED):
        return None
    own = next((s.cause for s in samples if s.outcome is outcome and s.cause), None)
    if own is None and outcome is Outcome.VOID:
        return "samples_missing" if len(samples) < planned else "too_few_samples"
    return own


def _message(
    outcome: Outcome, samples: Sequence[SampleVerdict], violations: Sequence[Violation], planned: int
) -> str:
    """The verdict in words: its first reason, and how many samples stand behind it."""
    count = sum(sample.outcome is Outcome.PASSED for sample in samples)
    tally = f"{count} of {planned} samples passed"
    if outcome is Outcome.FAILED:
        broken = [*violations, *(v for s in samples if s.outcome is outcome for v in s.violations)]
        return f"{broken[0].clause}: {broken[0].message} ({tally})"
    if outcome in (Outcome.VOID, Outcome.ERRORED):
        said = next((str(s.detail.get("message", s.cause)) for s in samples if s.outcome is outcome), None)
        return f"{said or 'samples are missing'} ({tally})"
    return tally


def _bounds(outcomes: Sequence[Outcome], planned: int) -> tuple[int, int]:
    passes = outcomes.count(Outcome.PASSED)
    return passes, planned - outcomes.count(Outcome.FAILED)
