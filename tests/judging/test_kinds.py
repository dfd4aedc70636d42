"""The kinds of checks on constructed evidence: each outcome, and that nothing missing is ever a pass."""

from typing import Any

import pytest

from armgate.judging.checks import CHECKS
from armgate.judging.observation import observed
from armgate.judging.protocol import gate_problems
from armgate.model.arms import Arm, ProcessLauncher, Speculative
from armgate.model.evidence import CounterReading, Counters, GateEvidence, Sample, Surroundings
from armgate.model.exchange import Clock, Exchange, Fate, Frame
from armgate.model.gates import Gate, Probe, Threshold
from armgate.model.haystack import HaystackSpec, MarkerSpec
from armgate.model.outcome import Family, Outcome, Verdict
from armgate.model.plan import Plan
from armgate.model.reading import read_response
from armgate.model.retries import Attempt
from armgate.model.soundness import void_of
from support.judged import contract_of

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


def test_only_what_was_in_flight_fails_by_a_crash() -> None:
    """An answer of 5xx or an error while it dies is the crash; what was refused came later."""
    refused = sample(stream("a", finish=None), fate=Fate.REFUSED)
    assert judge("responds", [refused], engine_died="exit code 3").outcome is Outcome.VOID
    whole = sample(stream("a"))
    assert judge("responds", [whole], engine_died="exit code 3").outcome is Outcome.PASSED


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


def test_a_prompt_whose_length_nobody_reported_carries_no_verdict() -> None:
    verdict = needle("The code is BLUE-7431.", prompt=0)
    assert (verdict.outcome, verdict.cause) == (Outcome.VOID, "length_unproven")


def test_a_string_of_a_marker_s_shape_that_was_never_planted_fails() -> None:
    verdict = needle("The code is BLUE-7431 or perhaps GREEN-0001.")
    assert [v.clause for v in verdict.samples[0].violations] == ["stranger"]


@pytest.mark.parametrize(
    ("markers", "answer", "breaches"),
    [
        (["A-1", "B-2"], '[\\"A-1\\", \\"B-2\\"]', set()),
        (["A-1", "B-2"], '[\\"B-2\\", \\"A-1\\"]', {"json"}),
        (["A-1", "B-2"], '[\\"A-1\\"]', {"json", "marker"}),
        (["A-1"], "A-1", {"json"}),
        ([], "[]", set()),
        ([], '[\\"A-1\\"]', {"json"}),
        ([], "There is none.", {"json"}),
    ],
)
def test_an_array_is_exactly_the_markers_in_the_order_asked(
    markers: list[str], answer: str, breaches: set[str]
) -> None:
    planted = [{"id": "m", "text": text} for text in markers]
    probe = Probe(id="one", haystack=SPEC.model_copy(update={"markers": ()}), max_tokens=64)
    made = sample(stream(answer, prompt=100), probe, prompt_tokens=100, markers=planted)
    verdict = judge("retrieval", [made], answer="json_array")
    assert {v.clause for v in verdict.samples[0].violations} == breaches
    assert (verdict.outcome is Outcome.PASSED) == (not breaches)
    partial = verdict.measurements["markers"]["one.0"].get("partial")
    assert partial == (None if not markers else sum(text in answer for text in markers) / len(markers))


@pytest.mark.parametrize("check", list(CHECKS))
def test_a_gate_without_what_its_check_needs_is_refused(check: str) -> None:
    gate = Gate(id="g", check=check, required=True, why="w", options={"no_such": 1})
    fields = [field for field, _ in gate_problems(CHECKS[check], gate)]
    assert "options" in fields
    assert len(fields) > 1


def short(*answers: str, cold: int | None = None, **changes: Any) -> Verdict:
    samples = [sample(stream(text), n=n) for n, text in enumerate(answers)]
    return short_of([s.model_copy(update={"cold": s.n == cold}) for s in samples], **changes)


def short_of(samples: list[Sample], **changes: Any) -> Verdict:
    contract = contract_of({"exact": {"text": "ACK"}})
    plan = Plan.model_construct(contracts={contract.id: contract})
    gate = Gate(
        id="g",
        check="latency",
        required=True,
        why="w",
        probes=(samples[0].probe,),
        contract=contract.id,
        **changes,
    )
    evidence = GateEvidence(
        gate=gate, family=Family.MEASUREMENT, arm=ARM, samples=tuple(samples), planned_samples=len(samples)
    )
    return CHECKS["latency"].judge(evidence, plan)


def test_what_a_short_answer_was_and_what_it_took_are_told_apart() -> None:
    verdict = short("ACK", "ACK.", "ACK")
    assert verdict.outcome is Outcome.PASSED
    told = verdict.measurements
    assert (told["contract"]["passed"], told["contract"]["failed"]) == (2, 1)
    assert (told["times"]["wall"]["n"], told["times_of_broken_answers"]["wall"]["n"]) == (2, 1)
    assert [v.detail["contract"] for v in verdict.samples] == ["passed", "failed", "passed"]
    assert verdict.samples[1].detail["violations"][0]["clause"] == "exact"
    assert [finding.kind for finding in verdict.findings] == ["contract_broken"]


@pytest.mark.parametrize(("bound", "outcome"), [(9.0, Outcome.PASSED), (0.5, Outcome.FAILED)])
def test_a_bound_on_a_short_answers_time(bound: float, outcome: Outcome) -> None:
    assert short("ACK", threshold=Threshold(at_most={"wall": bound})).outcome is outcome


def test_a_bound_is_missed_where_no_answer_kept_the_contract() -> None:
    verdict = short("no", threshold=Threshold(at_most={"wall": 9.0}))
    assert verdict.outcome is Outcome.FAILED
    assert "no answer that kept its contract" in str(verdict.message)


def test_without_counters_isolation_is_not_shown_and_the_gate_void() -> None:
    gone = Counters(available=False, reason="404")
    ends = {"counters_before": gone, "counters_after": gone}
    assert judge("speed", [sample(stream("a", "b"))], **ends).outcome is Outcome.PASSED
    verdict = judge("speed", [sample(stream("a", "b"))], options={"isolated": True}, **ends)
    assert (verdict.outcome, verdict.cause) == (Outcome.VOID, "isolation_unverified")


def told_by(accepted: int, drafts: int = 10, probe: Probe | None = None, n: int = 0) -> Sample:
    """A sample whose answer tells `drafts` steps of depth 3 with so many accepted tokens."""
    plain = sample(stream("a"), probe, n)
    speculation = {
        "num_spec_steps": drafts,
        "num_draft_tokens": 3 * drafts,
        "num_accepted_draft_tokens": accepted,
        "acceptance_histogram": [drafts - accepted, accepted, 0, 0],
    }
    raw = {"metrics": {"speculative_decoding": speculation}}
    return plain.model_copy(update={"response": plain.response.model_copy(update={"raw": raw})})


def drafted(samples: list[Sample], after: Counters, **changes: Any) -> Verdict:
    ends = {"counters_before": counters(5), "counters_after": after}
    return judge("acceptance", samples, arm=DEEP, **ends, **changes)


def test_counters_and_answers_that_disagree_by_one_token_are_told() -> None:
    assert drafted([told_by(10)], counters(15)).findings == ()
    (found,) = drafted([told_by(9)], counters(15)).findings
    assert (found.kind, "accepted_tokens 10 against 9" in found.message) == (
        "acceptance_sources_conflict",
        True,
    )


@pytest.mark.parametrize(("accepted", "kind"), [(0.0, "acceptance_zero"), (30.0, "acceptance_exactly_one")])
def test_acceptance_of_all_or_nothing_is_a_finding(accepted: float, kind: str) -> None:
    after = {**counters(15).series, "vllm:spec_decode_num_accepted_tokens_total": 5 + accepted}
    verdict = drafted([sample(stream("a"))], Counters(available=True, at_s=0.0, series=after))
    assert [finding.kind for finding in verdict.findings] == [kind]


def test_acceptance_that_collapses_with_the_depth_of_the_context_is_a_finding() -> None:
    probes = [Probe(id=f"d{depth}", prompt="x", context_depth=depth) for depth in (0, 4096, 65536)]
    kept = [told_by(accepted, probe=probe) for probe, accepted in zip(probes, (9, 8, 2), strict=True)]
    held = [told_by(accepted, probe=probe) for probe, accepted in zip(probes, (9, 8, 7), strict=True)]

    def kinds(samples: list[Sample]) -> list[str]:
        evidence = GateEvidence(
            gate=Gate(id="g", check="acceptance", required=True, why="w", probes=tuple(probes)),
            family=Family.MEASUREMENT,
            arm=DEEP,
            samples=tuple(samples),
            planned_samples=3,
        )
        return [finding.kind for finding in CHECKS["acceptance"].judge(evidence, PLAN).findings]

    assert kinds(kept) == ["acceptance_collapses_with_depth"]
    assert kinds(held) == []


def test_an_engine_without_counters_is_believed_by_its_own_log_as_a_gauge() -> None:
    """SGLang: no speculation counters, a reading of the running batch in the log."""
    line = "Decode batch. #running-req: 1, accept len: 3.00, accept rate: 0.50, gen throughput (token/s): 9"
    bare = Counters(available=True, at_s=0.0, series={"sglang:generation_tokens_total": 1.0})
    ends = {"counters_before": bare, "counters_after": bare}
    verdict = judge(
        "acceptance", [sample(stream("a"))], arm=DEEP, surroundings=Surroundings(log_lines=(line,)), **ends
    )
    assert verdict.outcome is Outcome.PASSED
    (source,) = verdict.measurements["sources"]
    assert (source["definition"], source["length"]) == ("batch_gauge", 3.0)
    assert "acceptance" not in verdict.measurements["counters"]
    silent = judge("acceptance", [sample(stream("a"))], arm=DEEP, **ends)
    assert (silent.outcome, silent.cause) == (Outcome.VOID, "draft_counters_never_moved")


def test_the_range_over_active_decode_stands_beside_the_mean() -> None:
    def reading(drafts: float, accepted: float) -> CounterReading:
        series = counters(drafts).series | {"vllm:spec_decode_num_accepted_tokens_total": accepted}
        return CounterReading(counters=Counters(available=True, at_s=0.0, series=series))

    during = (reading(7, 7), reading(7, 7), reading(10, 10 + 4))
    verdict = drafted([sample(stream("a"))], counters(15), surroundings=Surroundings(during=during))
    found = verdict.measurements["range"]
    assert found["windows"] == 3
    assert (found["length_low"], found["length_high"]) == (pytest.approx(1.2), pytest.approx(1 + 7 / 3))


def test_mean_ttft_stands_beside_the_servers_own_of_the_same_requests() -> None:
    def page(sum_s: float, count: float) -> Counters:
        name = "vllm:time_to_first_token_seconds"
        return Counters(available=True, at_s=0.0, series={f"{name}_sum": sum_s, f"{name}_count": count})

    samples = [sample(stream("a", "b"), n=n) for n in range(2)]
    told = judge("speed", samples, counters_before=page(1.0, 4), counters_after=page(2.9, 6)).measurements
    assert told["ttft_against_server"]["server_mean_s"] == pytest.approx(0.95)
    assert told["ttft_against_server"]["difference_s"] == pytest.approx(0.05)
    others = judge("speed", samples, counters_before=page(1.0, 4), counters_after=page(2.9, 7)).measurements
    assert "ttft_against_server" not in others


def test_what_the_server_may_or_may_not_have_counted_is_not_called_foreign() -> None:
    totals = {"vllm:request_success_total": 4.0}
    after = Counters(available=True, at_s=1.0, series=totals)
    before = Counters(available=True, at_s=0.0, series={"vllm:request_success_total": 2.0})
    whole, cut = sample(stream("a")), sample(stream("a", finish=None), n=1, fate=Fate.DROPPED)
    ends = {"counters_before": before, "counters_after": after}
    verdict = judge("speed", [whole, cut], **ends)
    told = verdict.measurements["interference"]
    assert (told["requests"], told["unanswered"]) == (1, 1)
    assert verdict.findings == ()
    assert [f.kind for f in judge("speed", [whole], **ends).findings] == ["foreign_traffic"]


NO_DRAFTS = Counters(available=True, series={"x": 1.0})


@pytest.mark.parametrize(
    ("check", "samples", "bound"),
    [
        ("speed", [sample(stream("abcd", tokens=4))], Threshold(at_least={"decode_span": 1e9})),
        ("speed", [sample(stream("a", "b"))], Threshold(at_most={"batch_window": 1e9})),
        ("acceptance", [sample(stream("a"))], Threshold(at_least={"acceptance_rate": 0.5})),
    ],
)
def test_a_bound_without_a_figure_is_void(check: str, samples: list[Sample], bound: Threshold) -> None:
    counters = {"counters_before": NO_DRAFTS, "counters_after": NO_DRAFTS}
    assert judge(check, samples, **counters).outcome is Outcome.PASSED
    verdict = judge(check, samples, threshold=bound, **counters)
    assert (verdict.outcome, verdict.cause) == (Outcome.VOID, "bound_without_figure")


def test_a_probe_without_any_sound_sample_leaves_its_bound_unheld() -> None:
    lost = sample(stream("a", finish=None), Probe(id="q", prompt="x", max_tokens=64), fate=Fate.DROPPED)
    one = Threshold(passes=1, at_least={"end_to_end": 0.1})
    verdict = judge("speed", [lost, sample(stream("a", "b"))], threshold=one, min_samples=1)
    assert (verdict.outcome, verdict.cause) == (Outcome.VOID, "bound_without_figure")


@pytest.mark.parametrize("bound", [{}, {"ttft": 9.0}])
def test_the_boots_first_request_alone_is_no_latency(bound: dict[str, float]) -> None:
    verdict = short("ACK", cold=0, threshold=Threshold(at_most=bound))
    assert (verdict.outcome, verdict.cause) == (Outcome.VOID, "only_the_cold_request")
    assert verdict.measurements["times"]["ttft"]["n"] == 0


def test_a_latency_tells_a_compilation_and_leaves_out_what_paid_for_a_load() -> None:
    def at(n: int, zero_s: float, ttft_s: float, compiled: str | None = None) -> Sample:
        made = sample(stream("ACK"), n=n)
        clock = Clock(zero_s=zero_s, end_s=3.0)
        timings = made.response.timings.model_copy(update={"ttft_s": ttft_s})
        return made.model_copy(
            update={
                "exchange": made.exchange.model_copy(update={"clock": clock}),
                "response": made.response.model_copy(update={"timings": timings}),
                "compiled": compiled,
            }
        )

    verdict = short_of([at(0, 0.0, 0.1, "a graph"), at(1, 4.0, 0.1), at(2, 900.0, 2.0)])
    assert verdict.measurements["times"]["ttft"]["values"] == [0.1, 0.1]
    assert [one["sample"] for one in verdict.measurements["excluded"]["after_pause"]] == ["p.2"]
    assert [finding.kind for finding in verdict.findings] == ["compiled_during_request"]


def test_attempts_that_were_not_judged_are_this_runs_own_traffic() -> None:
    def page(requests: int) -> Counters:
        series = {'vllm:request_success_total{finished_reason="stop"}': float(requests)}
        tokens = {
            "vllm:prompt_tokens_total": 100.0 * requests,
            "vllm:generation_tokens_total": 2.0 * requests,
        }
        return Counters(available=True, series=series | tokens)

    def judged(gained: int, *others: Attempt) -> Verdict:
        refused = sample([], fate=Fate.REFUSED)
        first = Attempt(path=refused.path, status=None, fate=Fate.REFUSED)
        retried = refused.model_copy(update={"attempts": (first, *others)})
        ends = {"counters_before": page(0), "counters_after": page(gained)}
        samples, one = [retried, sample(stream("a", "b"), n=1)], Threshold(passes=1)
        return judge("responds", samples, options={"isolated": True}, threshold=one, min_samples=1, **ends)

    answered = Attempt(path="exchanges/g/p.0-2.jsonl", status=200, fate=Fate.COMPLETE)
    dropped = answered.model_copy(update={"fate": Fate.DROPPED})
    limited = answered.model_copy(update={"status": 429})
    assert judged(2, answered).outcome is Outcome.PASSED
    assert judged(2, dropped).outcome is Outcome.PASSED
    for gained, other in ((3, answered), (2, limited)):
        assert judged(gained, other).cause == "foreign_traffic"
