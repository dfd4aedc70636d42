"""The top of the page: who ran what, the arms in a table, and the matrix of arms by gates."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from armgate.model.gates import IDENTITY
from armgate.model.outcome import Outcome
from armgate.model.pins import PinCheck
from armgate.model.quality import Identity, QualityRecord
from armgate.reporting.facts import RunFacts
from armgate.reporting.page.drawing import figure
from armgate.reporting.page.places import verdict_id
from armgate.reporting.page.verdicts import SIGNS, cut

EXIT_WORDS = {
    0: "Every required gate of every arm passed.",
    1: "At least one arm was rejected.",
    3: "Inconclusive: the evidence carries no verdict for at least one arm.",
    4: "Infrastructure error: at least one arm could not be judged.",
    5: "Nothing ran.",
    130: "The run was interrupted.",
}
REASONS_SHOWN = 3


@dataclasses.dataclass(frozen=True)
class ArmRow:
    index: int
    name: str
    verdict: str
    counts: tuple[tuple[str, str, int], ...]
    """(sign, outcome, count) of required gates."""
    reasons: tuple[str, ...]
    more_reasons: int
    speed: tuple[str, ...]
    accepted: str
    peak: str


@dataclasses.dataclass(frozen=True)
class Column:
    gate: str
    required: bool


@dataclasses.dataclass(frozen=True)
class MatrixCell:
    sign: str
    outcome: str
    link: str
    label: str


@dataclasses.dataclass(frozen=True)
class MatrixRow:
    index: int
    arm: str
    verdict: str
    cells: tuple[MatrixCell, ...]


@dataclasses.dataclass(frozen=True)
class PinRow:
    arm: str
    role: str
    name: str
    asked: tuple[tuple[str, str], ...]
    observed: tuple[tuple[str, str], ...]
    state: str
    method: str


@dataclasses.dataclass(frozen=True)
class ArmSettings:
    """What arms were, in full, as (name, value) lines; arms that were the same share them."""

    arms: tuple[str, ...]
    lines: tuple[tuple[str, str], ...]


def arm_rows(run: RunFacts) -> tuple[ArmRow, ...]:
    arms = list(run.plan_file.plan.arms)
    return tuple(_arm(run, arms.index(name), record) for name, record in run.records.items())


def _arm(run: RunFacts, index: int, record: QualityRecord) -> ArmRow:
    required = [gate.outcome for gate in record.gates if gate.required]
    return ArmRow(
        index=index,
        name=record.arm,
        verdict=record.arm_verdict.value,
        counts=tuple((SIGNS[o], o.value, required.count(o)) for o in Outcome),
        reasons=tuple(cut(reason) for reason in record.reasons[:REASONS_SHOWN]),
        more_reasons=max(len(record.reasons) - REASONS_SHOWN, 0),
        speed=tuple(_speed(run, record.arm)),
        accepted=_accepted(run, record.arm),
        peak=_peak(run, record.arm),
    )


def _speed(run: RunFacts, arm: str) -> Iterator[str]:
    """The metric that a choice goes by, a line for each kind of prompt, with n and interval."""
    compared = run.comparison.arms if run.comparison is not None else ()
    metric = run.comparison.choice.metric if run.comparison is not None else ""
    for one in compared:
        for summary in one.summaries if one.name == arm else ():
            if summary.metric == metric:
                interval = summary.interval
                spread = (
                    f", {figure(interval.low)} to {figure(interval.high)}"
                    if interval is not None and interval.high is not None
                    else ""
                )
                yield f"{summary.kind} {figure(summary.median)} (n={summary.n}{spread})"


def _accepted(run: RunFacts, arm: str) -> str:
    compared = run.comparison.arms if run.comparison is not None else ()
    found = next((one.acceptance for one in compared if one.name == arm), None)
    if found is None or found.mean_length.value is None:
        return "none"
    return f"{found.mean_length.value:.2f} (n={found.drafts})"


def _peak(run: RunFacts, arm: str) -> str:
    readings = [s.rss_bytes for (name, _), boot in run.boots.items() if name == arm for s in boot.memory]
    known = [reading for reading in readings if reading is not None]
    return f"{max(known) / 2**20:,.0f}" if known else "not known"


def columns(run: RunFacts) -> tuple[Column, ...]:
    plan = run.plan_file.plan
    return (Column(IDENTITY, True), *(Column(p.gate.id, p.gate.required) for p in plan.gates))


def matrix(run: RunFacts) -> tuple[MatrixRow, ...]:
    arms = list(run.plan_file.plan.arms)
    return tuple(
        MatrixRow(
            arms.index(name),
            name,
            record.arm_verdict.value,
            tuple(_cells(run, record)),
        )
        for name, record in run.records.items()
    )


def _cells(run: RunFacts, record: QualityRecord) -> Iterator[MatrixCell]:
    """Of several boots the worst outcome counts, and the link goes to the boot that had it."""
    for gate in record.gates:
        boot = next(int(n) for n, verdict in gate.verdicts.items() if verdict.outcome is gate.outcome)
        because = f", because of {gate.because_of}" if gate.because_of else ""
        yield MatrixCell(
            sign=SIGNS[gate.outcome],
            outcome=gate.outcome.value,
            link="#" + verdict_id(record.arm, boot, gate.gate),
            label=f"{record.arm}, {gate.gate}: {gate.outcome}{because}",
        )


def pin_rows(run: RunFacts) -> tuple[PinRow, ...]:
    """Every pin of every arm, asked and observed, in full; arms with the same pin share a row."""
    rows: dict[str, tuple[PinCheck, list[str]]] = {}
    for name, record in run.records.items():
        for pin in record.identity.pins:
            rows.setdefault(pin.model_dump_json(), (pin, []))[1].append(name)
    return tuple(
        PinRow(
            arm=", ".join(names),
            role=pin.role,
            name=pin.name,
            asked=tuple(lines(pin.asked)),
            observed=tuple(lines(pin.observed or {})),
            state=pin.state.value,
            method=pin.method,
        )
        for pin, names in rows.values()
    )


def settings(run: RunFacts) -> tuple[ArmSettings, ...]:
    found: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for name, record in run.records.items():
        found.setdefault(tuple(lines(_identity(record.identity))), []).append(name)
    return tuple(ArmSettings(tuple(names), told) for told, names in found.items())


def _identity(identity: Identity) -> dict[str, object]:
    return {
        "engine": identity.engine,
        "launcher": identity.launcher,
        "serve": identity.serve,
        "speculative": identity.speculative or "none",
        "sampling": identity.sampling,
        "versions": identity.versions,
        "reported by the server": identity.resolved,
        "command": " ".join(identity.argv),
    }


def lines(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    """A nested value as (dotted name, text) lines."""
    if isinstance(value, dict) and value:
        for key, below in value.items():
            yield from lines(below, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list | tuple):
        yield name, ", ".join(map(str, value))
    else:
        yield name, "none" if value in (None, {}) else str(value)
