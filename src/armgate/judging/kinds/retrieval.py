"""`retrieval`: planted markers come back out of a long input whose length was counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from armgate.judging.contract import judge_sample
from armgate.judging.protocol import conclude, failed, passed, unsound
from armgate.judging.retrieval import score_retrieval
from armgate.model.base import Json
from armgate.model.evidence import GateEvidence, Sample
from armgate.model.gates import Gate
from armgate.model.outcome import Family, Outcome, SampleVerdict, Verdict, Violation
from armgate.model.plan import Plan

TOLERATED_TOKENS = 8
"""Between the server's own count before sending and its usage afterwards (special tokens, templates)."""


class Retrieval:
    family = Family.SEMANTIC
    compares = False
    options: Mapping[str, type] = {"max_tokens": int}

    def problems(self, gate: Gate) -> Sequence[tuple[str, str]]:
        if gate.haystack is None and not any(probe.haystack for probe in gate.probes):
            return [("haystack", f"check {gate.check!r} needs 'haystack'")]
        return []

    def judge(self, evidence: GateEvidence, plan: Plan) -> Verdict:
        samples = [
            unsound(sample, evidence) or _served(sample) or _judged(sample, evidence.gate, plan)
            for sample in evidence.samples
        ]
        markers = {v.sample: v.detail.get("retrieval") for v in samples}
        lengths = {sample.id: _lengths(sample) for sample in evidence.samples}
        return conclude(evidence, samples, measurements={"markers": markers, "prompt_tokens": lengths})


def _lengths(sample: Sample) -> dict[str, Json]:
    usage = sample.response.usage
    return {
        "counted": sample.context.get("prompt_tokens"),
        "counted_by": sample.context.get("counted_by"),
        "reported": usage.prompt_tokens if usage else None,
        "cached": usage.cached_tokens if usage else None,
    }


def _served(sample: Sample) -> SampleVerdict | None:
    """A prompt that the server counts shorter than it was sent has been truncated; no marker then counts."""
    lengths = _lengths(sample)
    counted, reported = lengths["counted"], lengths["reported"]
    if counted is None or reported is None or reported >= counted - TOLERATED_TOKENS:
        return None
    message = f"{counted} prompt tokens were sent and {reported} were served"
    return failed(
        sample,
        Violation(clause="prompt_truncated", message=message, family=Family.RUNTIME),
        cause="prompt_truncated",
    )


def _judged(sample: Sample, gate: Gate, plan: Plan) -> SampleVerdict:
    texts = [marker["text"] for marker in sample.context.get("markers", [])]
    decoys = [decoy["text"] for decoy in sample.context.get("decoys", [])]
    score = score_retrieval(sample.response, texts, decoys, filler=_filler(sample))
    violations = list(score.violations)
    if gate.contract is not None:
        form = judge_sample(plan.contracts[gate.contract], sample)
        violations += form.violations
        if form.outcome is Outcome.VOID:
            return form
    detail = score.model_dump(mode="json", exclude={"violations"}, exclude_none=True)
    if violations:
        return failed(sample, *violations, retrieval=detail)
    return passed(sample, retrieval=detail)


def _filler(sample: Sample) -> str:
    """What was sent without the question: an answer may repeat what it was asked, not what it was given."""
    contents = [message.get("content") for message in sample.exchange.request.get("messages", [])]
    sent = "\n".join(content for content in contents if isinstance(content, str))
    question = sample.probe.haystack.question if sample.probe.haystack is not None else ""
    return sent.replace(question, "") if question else sent
