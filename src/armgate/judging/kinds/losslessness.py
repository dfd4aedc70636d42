"""`losslessness`: an arm says token for token what its reference says; a reference, what it said before."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from armgate.judging.bounds import Bounds
from armgate.judging.losslessness import compare_sides, divergence_of, sample_verdicts
from armgate.judging.protocol import conclude, needs, unsound
from armgate.judging.teacher_forcing import forced_side, forced_verdicts
from armgate.model.base import Json
from armgate.model.evidence import GateEvidence, Sample
from armgate.model.gates import Gate
from armgate.model.measures import Divergence
from armgate.model.outcome import Family, Finding, Outcome, SampleVerdict, Verdict
from armgate.model.plan import Plan
from armgate.model.soundness import TEXT_LOST
from armgate.model.teacher_forcing import ReplayedAnswer


class Losslessness:
    family = Family.SEMANTIC
    compares = True
    options: Mapping[str, type] = {"near_tie_nats": float}
    bounds = Bounds()

    def problems(self, gate: Gate) -> Sequence[tuple[str, str]]:
        problems = needs(gate, "probes")
        sampled = [p.id for p in gate.probes if p.sampling.get("temperature", 0) != 0]
        if sampled:
            problems.append(("probes", f"only greedy probes can be compared by token; sampled: {sampled}"))
        margin_nats = gate.options.get("near_tie_nats")
        if margin_nats is not None and not 0 <= margin_nats < math.inf:
            problems.append(("options", f"near_tie_nats is {margin_nats}; a margin is 0 or more"))
        return problems

    def judge(self, evidence: GateEvidence, plan: Plan) -> Verdict:
        if evidence.replays is not None:
            return _judged_by_replay(evidence, evidence.replays)
        own_repeat = evidence.reference_arm == evidence.arm.name
        near_tie_nats = evidence.gate.options.get("near_tie_nats")
        divergence = compare_sides(evidence.samples, evidence.reference_samples or (), near_tie_nats)
        floors = {} if own_repeat else _floors(evidence)
        measurements: dict[str, Json] = {
            "reference": evidence.reference_arm,
            "control": own_repeat,
            "divergence": _summary(divergence),
            **{name: _summary(floor) for name, floor in floors.items()},
        }
        if own_repeat and evidence.rebooted_samples:
            measurements["from_boot_to_boot"] = _summary(_rebooted(evidence, evidence.samples))
        findings = []
        if evidence.reference_samples is None:
            message = f"no samples of {evidence.reference_arm} to compare with"
            findings.append(Finding(kind="reference_missing", message=message))
        control = None
        if own_repeat or floors:
            control = divergence_of(pair for floor in floors.values() for pair in floor.pairs)
        reference = "its own repeat" if own_repeat else str(evidence.reference_arm)
        samples = sample_verdicts(divergence, control, reference)
        paths = {sample.id: (sample.path,) for sample in evidence.samples}
        shown = [v.model_copy(update={"evidence": paths.get(v.sample, ())}) for v in samples]
        judged = _unless_failed(evidence, shown)
        return conclude(evidence, judged, findings=findings, measurements=measurements)


def _unless_failed(evidence: GateEvidence, shown: Sequence[SampleVerdict]) -> list[SampleVerdict]:
    """A crash, the deadline and a prompt that the server refused or cut fail a sample before it is compared.

    An answer whose text was lost is void here: there is nothing to compare.
    """
    early = {sample.id: unsound(sample, evidence) for sample in evidence.samples}
    failed = {
        name: verdict
        for name, verdict in early.items()
        if verdict is not None and verdict.outcome is Outcome.FAILED and verdict.cause != TEXT_LOST
    }
    return [failed.get(verdict.sample, verdict) for verdict in shown]


def _floors(evidence: GateEvidence) -> dict[str, Divergence]:
    """The reference against itself: its repeats in the same boot, its other boots."""
    floors = {}
    if evidence.reference_samples is not None and evidence.control_samples is not None:
        floors["noise_floor"] = compare_sides(evidence.reference_samples, evidence.control_samples)
    if evidence.reference_samples is not None and evidence.rebooted_samples:
        floors["noise_floor_from_boot_to_boot"] = _rebooted(evidence, evidence.reference_samples)
    return floors


def _rebooted(evidence: GateEvidence, samples: Sequence[Sample]) -> Divergence:
    sides = (compare_sides(samples, other) for other in evidence.rebooted_samples)
    return divergence_of(pair for side in sides for pair in side.pairs)


def _summary(divergence: Divergence) -> Json:
    return divergence.model_dump(mode="json", exclude_none=True, exclude={"pairs"})


def _judged_by_replay(evidence: GateEvidence, replays: Sequence[ReplayedAnswer]) -> Verdict:
    """The verdict by teacher forcing, with what the answers themselves say kept as a measurement."""
    margin_nats = float(evidence.gate.options["near_tie_nats"])
    forced = forced_side(evidence.samples, replays)
    control = None
    if evidence.control_replays is not None:
        control = forced_side(evidence.reference_samples or (), evidence.control_replays)
    free = compare_sides(evidence.samples, evidence.reference_samples or (), margin_nats)
    measurements: dict[str, Json] = {
        "reference": evidence.reference_arm,
        "control": control is None,
        "near_tie_nats": margin_nats,
        "divergence": _summary(free),
        **{name: _summary(floor) for name, floor in _floors(evidence).items()},
        "teacher_forced": forced.model_dump(mode="json", exclude_none=True, exclude={"answers"}),
    }
    if control is not None:
        measurements["teacher_forced_control"] = control.model_dump(
            mode="json", exclude_none=True, exclude={"answers"}
        )
    samples = forced_verdicts(forced, control, margin_nats, str(evidence.reference_arm))
    paths = {replay.sample: replay.path for replay in replays}
    shown = [v.model_copy(update={"evidence": _evidence(v.sample, evidence, paths)}) for v in samples]
    # The control's answers come from another boot, which judged their times and its own end.
    judged = shown if control is None else _unless_failed(evidence, shown)
    return conclude(evidence, judged, measurements=measurements)


def _evidence(sample: str, evidence: GateEvidence, replays: Mapping[str, str]) -> tuple[str, ...]:
    """Of the control the replay alone: the answers themselves are in another boot."""
    own = [one.path for one in evidence.samples if one.id == sample and evidence.control_replays is not None]
    return (*own, *([replays[sample]] if sample in replays else []))
