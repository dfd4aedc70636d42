"""Brings speed and acceptance of the same prompts together for the advice on draft depth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from armgate.analysis.draft_depth import DepthPoint, advise
from armgate.campaign.standing import standing_measurements
from armgate.model.arms import Arm
from armgate.model.base import Json
from armgate.model.draft_depth import DepthAdvice
from armgate.model.measures import Acceptance
from armgate.model.plan import Plan
from armgate.model.quality import QualityRecord

RATE = "decode_wall"
NOT_THE_DEPTH = {"name", "says", "boots", "reference", "speculative"}


class Place(NamedTuple):
    """A probe of a gate, and whether it is the gate's only one."""

    gate: str
    probe: str
    alone: bool


def depth_advice(plan: Plan, records: Mapping[str, QualityRecord]) -> tuple[DepthAdvice, ...]:
    """For each draft, of arms that differ in its depth alone, on each prompt that has both figures."""
    found = []
    for base in (plan.arms[name] for name in records if plan.arms[name].speculative is None):
        drafted = [arm for arm in plan.arms.values() if arm.speculative and _alike(arm, base)]
        for draft in dict.fromkeys(map(_draft, drafted)):
            arms = [base, *(arm for arm in drafted if _draft(arm) == draft)]
            points = _points(plan, records, arms)
            found += [advise(base.name, prompt, of_prompt) for prompt, of_prompt in points.items()]
    return tuple(advice for advice in found if advice is not None)


def _alike(arm: Arm, base: Arm) -> bool:
    return arm.model_dump(exclude=NOT_THE_DEPTH) == base.model_dump(exclude=NOT_THE_DEPTH)


def _draft(arm: Arm) -> str:
    """Method, model and options: everything of a draft but its depth."""
    return "" if arm.speculative is None else arm.speculative.model_dump_json(exclude={"depth"})


def _points(
    plan: Plan, records: Mapping[str, QualityRecord], arms: Sequence[Arm]
) -> dict[str, list[DepthPoint]]:
    """By kind and prompt; prompts of one kind are not pooled either, for each has a step cost of its own."""
    return {
        f"{kind}, {speed.probe}": [
            _point(records[arm.name], arm, speed, accepted) for arm in arms if arm.name in records
        ]
        for kind, speed, accepted in _same_prompts(plan)
    }


def _same_prompts(plan: Plan) -> Iterator[tuple[str, Place, Place]]:
    """Kind, and the places in a speed and an acceptance gate that send the same messages."""
    accepted = {digest: place for place, digest, _ in _probes(plan, "acceptance")}
    for place, digest, kind in _probes(plan, "speed"):
        if digest in accepted:
            yield kind, place, accepted[digest]


def _probes(plan: Plan, check: str) -> Iterator[tuple[Place, str, str]]:
    for planned in plan.gates:
        kinds = {probe.id: probe.kind or probe.id for probe in planned.gate.probes}
        for probe in planned.probes if planned.gate.check == check else ():
            place = Place(planned.gate.id, probe.id, alone=len(planned.probes) == 1)
            yield place, probe.digest, kinds[probe.id]


def _point(record: QualityRecord, arm: Arm, speed: Place, accepted: Place) -> DepthPoint:
    """Of the arm's first boot that has figures."""
    rates = [found for one in _measured(record, speed) if (found := one.get("rates", {}).get(speed.probe))]
    shares = [_accepted(one, accepted) for one in _measured(record, accepted)] if arm.speculative else []
    known = [share for share in shares if share is not None]
    return DepthPoint(
        arm=arm.name,
        depth=arm.depth,
        tok_s=tuple(rates[0].get(RATE, {}).get("values", ())) if rates else (),
        acceptance=Acceptance.model_validate(known[0], strict=False) if known else None,
    )


def _measured(record: QualityRecord, place: Place) -> list[dict[str, Json]]:
    return list(standing_measurements(record, place.gate).values())


def _accepted(measured: Mapping[str, Json], place: Place) -> Json:
    """The probe's own figure; of a gate with one probe alone, that of the gate's counters."""
    own = measured.get("by_probe", {}).get(place.probe)
    return own or (measured.get("counters", {}).get("acceptance") if place.alone else None)
