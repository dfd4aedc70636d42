"""`responds`: the arm answers at all. Also the place of warm-ups: what is cold is seen and set apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from armgate.judging.bounds import Bounds
from armgate.judging.protocol import conclude, failed, needs, passed, unsound
from armgate.model.evidence import GateEvidence, Sample
from armgate.model.gates import Gate
from armgate.model.outcome import Family, SampleVerdict, Verdict, Violation
from armgate.model.plan import Plan


class Responds:
    family = Family.RUNTIME
    compares = False
    options: Mapping[str, type] = {}
    bounds = Bounds()

    def problems(self, gate: Gate) -> Sequence[tuple[str, str]]:
        return needs(gate, "probes")

    def judge(self, evidence: GateEvidence, plan: Plan) -> Verdict:
        samples = [unsound(sample, evidence) or _judged(sample) for sample in evidence.samples]
        ttft_s = [sample.response.timings.ttft_s for sample in evidence.samples]
        cold_ttft_s = [sample.response.timings.ttft_s for sample in evidence.warm_ups]
        return conclude(evidence, samples, measurements={"ttft_s": ttft_s, "warm_up_ttft_s": cold_ttft_s})


def _judged(sample: Sample) -> SampleVerdict:
    response = sample.response
    if response.content or response.reasoning or response.tool_calls:
        return passed(sample)
    message = f"no text in any channel (finish reason {response.finish_reason!r})"
    return failed(sample, Violation(clause="answers", message=message, family=Family.RUNTIME))
