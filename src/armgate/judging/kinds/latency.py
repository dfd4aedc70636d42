"""`latency`: how long short answers take. What the answer was and what it took are told apart.

The outcome is that of the measurement and of its declared bounds; whether an answer kept its contract is
recorded beside its time and decides nothing here: a gate of check `contract` on the same prompt does that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from armgate.judging.bounds import Bounds, Held, broken_bound, held
from armgate.judging.contract import judge_sample
from armgate.judging.figures import figures
from armgate.judging.idle import after_pause, compilations
from armgate.judging.kinds.contract import contract_problems
from armgate.judging.load_figures import excluded
from armgate.judging.protocol import conclude, never_only_cold, passed, unsound
from armgate.model.base import Json
from armgate.model.evidence import GateEvidence, Sample
from armgate.model.gates import Gate
from armgate.model.outcome import Family, Finding, Outcome, SampleVerdict, Verdict
from armgate.model.plan import Plan

TIMES = {
    "ttft": "first text of any channel - hand-over",
    "wall": "end of the answer - hand-over",
    "wall_scheduled": "end of the answer - scheduled instant",
}

Times = dict[str, float | None]


class Latency:
    """Times of answers that kept the contract and of those that broke it are never in one figure."""

    family = Family.MEASUREMENT
    compares = False
    options: Mapping[str, type] = {}
    bounds = Bounds(at_most=tuple(TIMES))

    def problems(self, gate: Gate) -> Sequence[tuple[str, str]]:
        return contract_problems(gate)

    def judge(self, evidence: GateEvidence, plan: Plan) -> Verdict:
        samples = [
            unsound(sample, evidence) or _judged(sample, evidence, plan) for sample in evidence.samples
        ]
        samples = never_only_cold(samples, evidence.samples)
        sound = {v.sample for v in samples if v.outcome is Outcome.PASSED}
        sent = [s for s in evidence.samples if s.id in sound]
        cold = [s for s in evidence.samples if s.cold]
        paused = [s for s in after_pause(sent) if not s.cold]
        left_out = {s.id for s in (*cold, *paused)}
        measured = [s for s in sent if s.id not in left_out]
        kept, broken = (_summary(samples, outcome, left_out) for outcome in (Outcome.PASSED, Outcome.FAILED))
        told = [v.detail["contract"] for v in samples if "contract" in v.detail]
        bounded = _held(evidence.gate, kept, told)
        return conclude(
            evidence,
            samples,
            bounded.violations,
            without_figure=bounded.without_figure,
            findings=(*_broken(told), *compilations(measured)),
            measurements={
                "contract": {outcome.value: told.count(outcome.value) for outcome in Outcome},
                "times": kept,
                "times_of_broken_answers": broken,
                "excluded": excluded(evidence.warm_ups, cold, paused),
            },
        )


def _judged(sample: Sample, evidence: GateEvidence, plan: Plan) -> SampleVerdict:
    """Sound: it was measured. The contract's own outcome and violations stand beside the times."""
    contract = plan.contracts[sample.probe.contract or evidence.gate.contract or ""]
    form = judge_sample(contract, sample)
    broken = [violation.model_dump(mode="json", exclude_none=True) for violation in form.violations]
    return passed(sample, contract=form.outcome.value, violations=broken, **_times(sample))


def _times(sample: Sample) -> Times:
    timings, lateness_s = sample.response.timings, sample.exchange.clock.lateness_s
    scheduled = None if timings.wall_s is None else timings.wall_s + lateness_s
    return {"ttft_s": timings.ttft_s, "wall_s": timings.wall_s, "wall_scheduled_s": scheduled}


def _summary(samples: Sequence[SampleVerdict], outcome: Outcome, left_out: set[str]) -> dict[str, Json]:
    """Figures over the answers of one contract outcome, without those that paid for more than it."""
    measured = [v.detail for v in samples if v.sample not in left_out]
    chosen = [detail for detail in measured if detail.get("contract") == outcome.value]
    values = {name: [d[f"{name}_s"] for d in chosen if d.get(f"{name}_s") is not None] for name in TIMES}
    return {name: figures(TIMES[name], "s", seconds) for name, seconds in values.items()}


def _broken(told: Sequence[str]) -> Iterator[Finding]:
    count = told.count(Outcome.FAILED.value)
    if count:
        message = f"{count} of {len(told)} answers broke the contract; their times are in no other figure"
        yield Finding(kind="contract_broken", message=message)


def _held(gate: Gate, kept: Mapping[str, Json], told: Sequence[str]) -> Held:
    """Bounds on the median over answers that kept the contract; where none did, every bound is missed."""
    if told and Outcome.PASSED.value not in told:
        bounds = gate.threshold.at_most.items()
        words = "no answer that kept its contract has a"
        return Held(tuple(broken_bound(f"{words} {name}; at most {bound:g} s") for name, bound in bounds))
    return held(gate.threshold, {"median ": {name: one.get("median") for name, one in kept.items()}})
