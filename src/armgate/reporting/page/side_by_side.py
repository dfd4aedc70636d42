"""Two runs side by side: what differs in what was asked, in outcomes and in figures. Nothing is tested."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping
from statistics import median

from markupsafe import Markup

from armgate.model.quality import GateRecord, QualityRecord
from armgate.reporting.facts import RunFacts
from armgate.reporting.page.drawing import ROW, axis, axis_end, dots, figure, svg, tick
from armgate.reporting.page.overview import EXIT_WORDS, lines
from armgate.reporting.page.render import page_bytes
from armgate.reporting.page.speed import METRICS, Values, measured_values
from armgate.reporting.page.verdicts import SIGNS

ABSENT = "not in this run"


@dataclasses.dataclass(frozen=True)
class Side:
    sign: str
    word: str


@dataclasses.dataclass(frozen=True)
class PairCell:
    left: Side
    right: Side
    label: str

    @property
    def changed(self) -> bool:
        return self.left != self.right


@dataclasses.dataclass(frozen=True)
class PairRow:
    arm: str
    verdicts: tuple[str, str]
    cells: tuple[PairCell, ...]


@dataclasses.dataclass(frozen=True)
class FigureRow:
    arm: str
    run: str
    n: int
    median: str
    plot: Markup


@dataclasses.dataclass(frozen=True)
class FigureTable:
    words: str
    kind: str
    axis_end: str
    rows: tuple[FigureRow, ...]


def side_by_side_page(left: RunFacts, right: RunFacts) -> bytes:
    """`left` is the run, `right` the one that it is set against."""
    gates = _ordered(left.plan_file.plan.gate_ids, right.plan_file.plan.gate_ids)
    arms = _ordered(tuple(left.records), tuple(right.records))
    view = {
        "left": left,
        "right": right,
        "exit_words": EXIT_WORDS,
        "gates": gates,
        "rows": tuple(_row(arm, gates, left, right) for arm in arms),
        "asked": tuple(_differences(*_asked(left, right))),
        "figures": tuple(_tables(left, right, arms)),
    }
    return page_bytes("side-by-side.html.jinja", view)


def _ordered(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def _row(arm: str, gates: tuple[str, ...], left: RunFacts, right: RunFacts) -> PairRow:
    records = [run.records.get(arm) for run in (left, right)]
    verdicts = [record.arm_verdict.value if record else ABSENT for record in records]
    return PairRow(
        arm=arm,
        verdicts=(verdicts[0], verdicts[1]),
        cells=tuple(_cell(arm, gate, *(_gate(record, gate) for record in records)) for gate in gates),
    )


def _gate(record: QualityRecord | None, gate: str) -> GateRecord | None:
    return next((one for one in record.gates if one.gate == gate), None) if record else None


def _cell(arm: str, gate: str, left: GateRecord | None, right: GateRecord | None) -> PairCell:
    sides = [Side(SIGNS[g.outcome], g.outcome.value) if g else Side(" ", ABSENT) for g in (left, right)]
    return PairCell(sides[0], sides[1], f"{arm}, {gate}: {sides[0].word}, against {sides[1].word}")


def _asked(left: RunFacts, right: RunFacts) -> tuple[dict[str, str], dict[str, str]]:
    both = left.records.keys() & right.records.keys()
    return _of_run(left, both), _of_run(right, both)


def _of_run(run: RunFacts, arms: Collection[str]) -> dict[str, str]:
    """Everything that decided these arms of a run, as (dotted name, text)."""
    plan = run.plan_file.plan
    asked = dict(lines({"armgate": plan.armgate_version, "inputs": plan.inputs}))
    for name in (arm for arm in run.records if arm in arms):
        identity = run.records[name].identity
        pins = {pin.role: pin.asked for pin in identity.pins}
        told = {"pins": pins, "serve": identity.serve, "versions": identity.versions,
                "speculative": identity.speculative or "none", "sampling": identity.sampling}  # fmt: skip
        asked |= {f"{name}.{key}": value for key, value in lines(told)}
    return asked


def _differences(left: Mapping[str, str], right: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for name in _ordered(tuple(left), tuple(right)):
        values = left.get(name, ABSENT), right.get(name, ABSENT)
        if values[0] != values[1]:
            yield name, *values


def _tables(left: RunFacts, right: RunFacts, arms: tuple[str, ...]) -> Iterator[FigureTable]:
    """Metrics that decide, on kinds of prompt that both runs measured; other kinds are not comparable."""
    values = measured_values(left), measured_values(right)
    for key in sorted(values[0].keys() & values[1].keys()):
        if key[0] not in METRICS:
            continue
        points = [_points(found, key) for found in values]
        end = axis_end(value for of_run in points for of_arm in of_run.values() for value in of_arm)
        names = (left.name, right.name)
        rows = [
            FigureRow(arm, name, len(of_run[arm]), figure(median(of_run[arm])), _plot(of_run[arm], end))
            for arm in arms
            for name, of_run in zip(names, points, strict=True)
            if arm in of_run
        ]
        yield FigureTable(key[0].replace("_", " "), key[1], axis(end), tuple(rows))


def _points(values: Values, key: tuple[str, str]) -> dict[str, list[float]]:
    return {arm: [v for _, f in found for v in f["values"]] for arm, found in values[key].items()}


def _plot(values: list[float], end: float) -> Markup:
    return svg([dots(values, end), tick(median(values), end)], ROW)
