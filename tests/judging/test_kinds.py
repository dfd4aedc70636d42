"""The kinds of checks on constructed evidence: each outcome, and that nothing missing is ever a pass."""

from typing import Any

import pytest

from armgate.judging.checks import CHECKS
from armgate.judging.observation import observed
from armgate.judging.protocol import gate_problems
from armgate.model.arms import Arm, ProcessLauncher, Speculative
from armgate.model.evidence import Counters, GateEvidence, Sample
from armgate.model.exchange import Clock, Exchange, Fate, Frame
from armgate.model.gates import Gate, Probe, Threshold
from armgate.model.haystack import HaystackSpec, MarkerSpec
from armgate.model.outcome import Family, Outcome, Verdict
from armgate.model.plan import Plan
from armgate.model.reading import read_response
from armgate.model.soundness import void_of

PLAN: Plan = None  # type: ignore[assignment] # the checks used here ask the plan for nothing

ARM = Arm(
    name="a",
    engine="vllm",
    launcher=ProcessLauncher(kind="process", python="p"),
    target="t",
    reference="a",
)
SPEC = HaystackSpec(target_tokens=100, question="Which code?", markers=(MarkerSpec(id="one"),))


def stream(
    *texts: str, tokens: int | None = None, prompt: int = 100, finish: str | None = "stop"
) -> list[Frame]:
    frames = [
        Frame(1.0 + 0.1 * n, b'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n' % text.encode())
        for n, text in enumerate(texts)
    ]
    if finish is not None:
        end = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"%s"}]}\n\n' % finish.encode()
        frames.append(Frame(2.9, end))
    count = len(texts) if tokens is None else tokens
    usage = b'{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}' % (prompt, count, prompt + count)
    frames.append(Frame(3.0, b'data: {"choices":[],"usage":%s}\n\ndata: [DONE]\n\n' % usage))
    return frames


def sample(
    frames: list[Frame], probe: Probe | None = None, n: int = 0, fate: Fate = Fate.COMPLETE, **context: Any
) -> Sample:
    probe = probe or Probe(id="p", prompt="x", max_tokens=64)
    exchange = Exchange(
        request={"messages": [{"role": "user", "content": "x"}], "max_tokens": 64, "temperature": 0.0},
        status=200,
        headers={},
        frames=tuple(frames),
        fate=fate,
        clock=Clock(end_s=3.0),
    )
    response = read_response(exchange)
    return Sample(
        id=f"{probe.id}.{n}",
        probe=probe,
        n=n,
        path=f"exchanges/g/{probe.id}.{n}.jsonl",
        exchange=exchange,
        response=response,
        void=void_of(exchange, response),
        context=context,
    )


def judge(check: str, samples: list[Sample], planned: int | None = None, **changes: Any) -> Verdict:
    gate_fields = {k: changes.pop(k) for k in list(changes) if k in Gate.model_fields}
    gate = Gate(id="g", check=check, required=True, why="w", probes=(samples[0].probe,), **gate_fields)
    evidence = GateEvidence(
        gate=gate,
        family=CHECKS[check].family,
        arm=changes.pop("arm", ARM),
        samples=tuple(samples),
        planned_samples=planned if planned is not None else len(samples),
        **changes,
    )
    return observed(CHECKS[check].judge(evidence, PLAN), evidence)


@pytest.mark.parametrize("check", ["responds", "speed", "acceptance"])
def test_a_missing_sample_is_never_a_pass(check: str) -> None:
    verdict = judge(check, [sample(stream("a", "b"))], planned=2)
    assert verdict.outcome is Outcome.VOID


def test_no_text_at_all_fails_responds() -> None:
    verdict = judge("responds", [sample(stream(tokens=0))])
    assert (verdict.outcome, verdict.samples[0].violations[0].clause) == (Outcome.FAILED, "answers")


def test_a_declared_deadline_fails_the_gate_as_runtime() -> None:
    verdict = judge("responds", [sample(stream("a"))], deadline_s=2.0)
    assert verdict.outcome is Outcome.FAILED
    assert verdict.samples[0].violations[0].family is Family.RUNTIME


def test_a_dropped_connection_is_void_unless_the_engine_died() -> None:
    dropped = sample(stream("a", finish=None), fate=Fate.DROPPED)
    assert judge("responds", [dropped]).outcome is Outcome.VOID
    verdict = judge("responds", [dropped], engine_died="exit code 3")
    assert verdict.outcome is Outcome.FAILED
    assert verdict.samples[0].violations[0].clause == "engine_alive"


def test_rates_are_medians_by_probe_with_their_n() -> None:
    verdict = judge("speed", [sample(stream("a", "b", "c"), n=n) for n in range(3)])
    figures = verdict.measurements["rates"]["p"]["decode_wall"]
    assert (figures["n"], figures["unit"]) == (3, "tok/s")
    assert figures["median"] == pytest.approx(3 / 1.9)


def test_a_fixed_output_length_is_asserted() -> None:
    verdict = judge("speed", [sample(stream("a", "b"))], options={"output_tokens": 3})
    assert "2 tokens instead of the fixed 3" in str(verdict.message)


@pytest.mark.parametrize(("bound", "outcome"), [(1.0, Outcome.PASSED), (9.0, Outcome.FAILED)])
def test_a_declared_bound_on_a_rate(bound: float, outcome: Outcome) -> None:
    threshold = Threshold(at_least={"decode_wall": bound})
    assert judge("speed", [sample(stream("a", "b", "c"))], threshold=threshold).outcome is outcome


def counters(drafts: float) -> Counters:
    names = {"num_drafts": drafts, "num_draft_tokens": 3 * drafts, "num_accepted_tokens": drafts}
    return Counters(
        available=True, at_s=0.0, series={f"vllm:spec_decode_{k}_total": v for k, v in names.items()}
    )


DEEP = ARM.model_copy(update={"speculative": Speculative(method="ngram", depth=3)})


def test_acceptance_is_what_the_counters_gained() -> None:
    verdict = judge(
        "acceptance",
        [sample(stream("a"))],
        arm=DEEP,
        counters_before=counters(5),
        counters_after=counters(15),
    )
    assert verdict.outcome is Outcome.PASSED
    acceptance = verdict.measurements["counters"]["acceptance"]
    assert (acceptance["drafts"], acceptance["mean_length"]["value"]) == (10, 2.0)


@pytest.mark.parametrize(
    ("before", "after", "cause"),
    [
        (counters(5), counters(5), "draft_counters_never_moved"),
        (counters(5), counters(2), "counter_reset"),
        (counters(5), Counters(available=False, reason="404"), "counters_unavailable"),
    ],
)
def test_counters_that_tell_nothing_are_void(before: Counters, after: Counters, cause: str) -> None:
    verdict = judge(
        "acceptance", [sample(stream("a"))], arm=DEEP, counters_before=before, counters_after=after
    )
    assert (verdict.outcome, verdict.cause) == (Outcome.VOID, cause)


def needle(text: str, prompt: int = 100) -> Verdict:
    probe = Probe(id="one", haystack=SPEC, max_tokens=64)
    markers = [{"id": "one", "text": "BLUE-7431"}]
    made = sample(
        stream(text, prompt=prompt), probe, prompt_tokens=100, markers=markers, counted_by="/tokenize"
    )
    return judge("retrieval", [made], haystack=SPEC)


def test_a_marker_is_found_or_not() -> None:
    assert needle("The code is BLUE-7431.").outcome is Outcome.PASSED
    assert needle("The code is BLUE-7432.").outcome is Outcome.FAILED


def test_a_truncated_prompt_is_a_runtime_failure_whatever_the_answer_says() -> None:
    verdict = needle("The code is BLUE-7431.", prompt=60)
    assert (verdict.outcome, verdict.cause) == (Outcome.FAILED, "prompt_truncated")
    assert verdict.samples[0].violations[0].family is Family.RUNTIME


@pytest.mark.parametrize("check", list(CHECKS))
def test_a_gate_without_what_its_check_needs_is_refused(check: str) -> None:
    gate = Gate(id="g", check=check, required=True, why="w", options={"no_such": 1})
    fields = [field for field, _ in gate_problems(CHECKS[check], gate)]
    assert "options" in fields
    assert len(fields) > 1
