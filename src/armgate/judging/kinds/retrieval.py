"""`retrieval`: planted markers come back out of a long input whose length was counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from armgate.judging.bounds import Bounds
from armgate.judging.contract import clause_violations, judge_sample
from armgate.judging.heatmap import caching, heat_map
from armgate.judging.protocol import conclude, failed, passed, unsound
from armgate.judging.retrieval import score_retrieval, shape_of_any
from armgate.judging.subject import Subject
from armgate.model.base import Json
from armgate.model.contract import Clause
from armgate.model.evidence import GateEvidence, Sample
from armgate.model.gates import Gate
from armgate.model.haystack import HaystackSpec
from armgate.model.outcome import Family, Finding, Outcome, SampleVerdict, Verdict, Violation
from armgate.model.plan import Plan
from armgate.model.windows import PromptLength

CLAIM = (
    "markers came back from these lengths under these settings, one request at a time: no proof of the whole "
    "window, of reasoning over documents, or of concurrency above 1"
)


class Retrieval:
    family = Family.SEMANTIC
    compares = False
    options: Mapping[str, type] = {"max_tokens": int}
    bounds = Bounds()

    def problems(self, gate: Gate) -> Sequence[tuple[str, str]]:
        specs = [probe.haystack for probe in gate.probes if probe.haystack is not None]
        if isinstance(gate.haystack, HaystackSpec):
            specs.append(gate.haystack)
        if not specs and gate.haystack is None:
            return [("haystack", f"check {gate.check!r} needs 'haystack'")]
        return [*_source_problems(gate), *_sweep_problems(gate), *_answer_problems(gate, specs)]

    def judge(self, evidence: GateEvidence, plan: Plan) -> Verdict:
        lengths = {sample.id: length_of(sample) for sample in evidence.samples}
        samples = [
            unsound(sample, evidence)
            or _unproven(sample, lengths[sample.id])
            or _judged(sample, evidence.gate, plan)
            for sample in evidence.samples
        ]
        measured: dict[str, Json] = {
            "markers": {v.sample: v.detail.get("retrieval") for v in samples},
            "prompt_tokens": {key: one.model_dump(mode="json") for key, one in lengths.items()},
            "claim": CLAIM,
        }
        findings = [*_labels(lengths), *_unsent(evidence)]
        if evidence.gate.sweep is not None:
            table, step = heat_map(evidence, samples, lengths)
            measured |= {"heat_map": table, "caching": caching(evidence)}
            findings += step
        return conclude(evidence, samples, findings=findings, measurements=measured)


def length_of(sample: Sample) -> PromptLength:
    return PromptLength.of(sample.context, sample.response.usage)


def _source_problems(gate: Gate) -> Iterator[tuple[str, str]]:
    """Every prompt is a haystack, and a marker that is declared is asked for."""
    plain = [probe.id for probe in gate.probes if gate.haystack is not None or probe.haystack is None]
    if plain and gate.haystack is not None:
        yield "probes", f"the haystack makes the probes of its gate; beside it stand {', '.join(plain)}"
    elif plain:
        yield "probes", f"probes without a haystack ask for nothing: {', '.join(plain)}"
    if gate.ask == "one_each":
        if gate.haystack is None:
            yield "ask", "one_each divides the gate's own haystack, and there is none"
        elif isinstance(gate.haystack, HaystackSpec) and not gate.haystack.markers:
            yield "ask", "one_each of no markers asks nothing: ask: together"


def _sweep_problems(gate: Gate) -> Iterator[tuple[str, str]]:
    if gate.sweep is None:
        return
    spec = gate.haystack
    if not isinstance(spec, HaystackSpec) or gate.probes:
        yield "sweep", "a sweep needs a haystack and no probes: it makes them"
        return
    if len(spec.markers) != 1 or spec.markers[0].place != "line" or spec.markers[0].at_tokens is not None:
        yield (
            "sweep",
            "a sweep moves one marker: the haystack needs exactly one, on a line, without at_tokens",
        )
    if spec.has_length:
        yield "sweep", "the sweep sets the lengths: the haystack may not have target_tokens or lines"


def _answer_problems(gate: Gate, specs: Sequence[HaystackSpec]) -> Iterator[tuple[str, str]]:
    if gate.answer == "text" and any(not spec.markers for spec in specs):
        message = "a haystack without markers has one right answer, an empty array: answer: json_array"
        yield "answer", message


def _unproven(sample: Sample, length: PromptLength) -> SampleVerdict | None:
    """A prompt that is not known to have been served whole carries no verdict about retrieval."""
    if length.is_cut:
        message = f"{length.counted} prompt tokens were sent and {length.reported} were served"
        broken = Violation(clause="prompt_truncated", message=message, family=Family.RUNTIME)
        numbers = {"prompt_tokens": length.counted, "served_tokens": length.reported}
        return failed(sample, broken, cause="prompt_truncated", **numbers)
    if length.reported is None:
        message = "the server reported no prompt tokens: nothing shows that the whole input was served"
        return SampleVerdict(
            sample=sample.id,
            outcome=Outcome.VOID,
            cause="length_unproven",
            evidence=(sample.path,),
            detail={"message": message},
        )
    return None


def _judged(sample: Sample, gate: Gate, plan: Plan) -> SampleVerdict:
    texts = [marker["text"] for marker in sample.context.get("markers", [])]
    decoys = [decoy["text"] for decoy in sample.context.get("decoys", [])]
    score = score_retrieval(sample.response, texts, decoys, shape=_shape(sample), filler=_filler(sample))
    violations = list(score.violations)
    if gate.answer == "json_array":
        violations += _array_violations(sample, texts)
    if gate.contract is not None:
        form = judge_sample(plan.contracts[gate.contract], sample)
        violations += form.violations
        if form.outcome is Outcome.VOID:
            return form
    detail = score.model_dump(mode="json", exclude={"violations"}, exclude_none=True)
    detail["placed"] = sample.context.get("markers", [])
    if violations:
        return failed(sample, *violations, retrieval=detail)
    return passed(sample, retrieval=detail)


def _array_violations(sample: Sample, texts: Sequence[str]) -> list[Violation]:
    """The answer is this JSON array and nothing else: the same strings in the order asked for."""
    clause = Clause.model_validate({"json": {"top_level": "array", "value": list(texts)}})
    return clause_violations(clause, Subject.of_exchange(sample.exchange, sample.response))


def _shape(sample: Sample) -> str | None:
    """A pattern for strings that look like markers, where all markers were drawn from patterns."""
    spec = sample.probe.haystack
    if spec is None or not spec.markers or any(marker.text is not None for marker in spec.markers):
        return None
    return shape_of_any(marker.pattern for marker in spec.markers)


def _filler(sample: Sample) -> str:
    """What was sent without the question: an answer may repeat what it was asked, not what it was given."""
    contents = [message.get("content") for message in sample.exchange.request.get("messages", [])]
    sent = "\n".join(content for content in contents if isinstance(content, str))
    question = sample.probe.haystack.question if sample.probe.haystack is not None else ""
    return sent.replace(question, "") if question else sent


def _labels(lengths: Mapping[str, PromptLength]) -> Iterator[Finding]:
    for sample, length in lengths.items():
        if length.label_is_off and length.relative_error is not None:
            message = (
                f"{sample}: counted as {length.counted} tokens and served as {length.reported} "
                f"({length.relative_error:+.1%}); the figure is of the length served"
            )
            yield Finding(kind="depth_label_off", message=message)


def _unsent(evidence: GateEvidence) -> Iterator[Finding]:
    for probe, because_of in evidence.not_sent.items():
        yield Finding(kind=because_of, message=f"{probe} was not sent: {because_of}")
