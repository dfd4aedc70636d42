"""Long-context gates on whole runs: servers that count, cut, refuse and answer in every way but the right."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from armgate.campaign.derived import RunResult
from armgate.engines.registry import ENGINES
from armgate.model.outcome import Family, Outcome, SampleVerdict, Verdict
from armgate.model.quality import QualityRecord
from armgate.reporting.run_folder import RunFolder
from campaign.test_run import assert_adds_up, assert_judges_the_same, run
from support.stand_in import SmallWorkspace, register
from support.stand_in_engine import REFUSALS

P, F, S, V = Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED, Outcome.VOID
TRUE = r"The \w+ marker is ([A-Z]+-\d{4})\."
DECOY = r"list gave the \w+ marker as ([A-Z]+-\d{4});"
CUT_AT = 300

ANSWERS: dict[str, dict[str, Any]] = {
    "right": {"find": TRUE},
    "as-text": {"find": TRUE, "form": "text"},
    "from-a-decoy": {"find": DECOY},
    "in-reasoning": {"find": TRUE, "fault": "reasoning"},
    "cut": {"find": TRUE, "served": CUT_AT},
    "unreported": {"find": TRUE, "usage": False},
    **{f"refused-{words}": {"find": TRUE, "served": CUT_AT, "over": words} for words in REFUSALS},
}
"""Gate -> how the server answers it. The gate `echoed` has no reply: the server says the prompt itself."""


def haystack(name: str, **changes: Any) -> dict[str, Any]:
    return {
        "target_tokens": 600,
        "tolerance_tokens": 0,
        "question": f"Case {name}: a JSON array of the markers, please.",
        "markers": [
            {"id": "first", "depth": 0.1},
            {"id": "second", "at_tokens": 300},
            {"id": "third", "depth": 0.9},
        ],
        "decoys": [{"of": "first", "depth": 0.2}, {"of": "third", "depth": 0.8, "kind": "superseded"}],
        **changes,
    }


def gate(name: str, **changes: Any) -> dict[str, Any]:
    made = {"id": name, "check": "retrieval", "required": False, "why": "w", "answer": "json_array"}
    return {**made, "haystack": haystack(name), "options": {"max_tokens": 64}, **changes}


def ladder() -> list[dict[str, Any]]:
    gates = [gate(name) for name in (*ANSWERS, "echoed")]
    bare = haystack("no-marker", markers=[], decoys=[])
    whole = haystack("whole-window", target_tokens="window")
    return [
        {"id": "responds", "check": "responds", "required": True, "why": "w",
         "probes": [{"id": "hello", "prompt": "hello"}]},
        *gates,
        gate("no-marker", haystack=bare),
        gate("whole-window", haystack=whole),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunFolder, RunResult]]:
    register()
    small = SmallWorkspace.make(tmp_path_factory.mktemp("long"))
    small.tokenizer()
    small.ladder = ladder()
    replies = [{"match": f"Case {name}:", **answer} for name, answer in ANSWERS.items()]
    replies += [{"match": f"Case {name}:", "find": TRUE} for name in ("no-marker", "whole-window")]
    serve = {"replies": small.replies("long", *replies), "max_model_len": 900}
    changes = {
        "sglang": {"tokenize": "sglang"},
        "llama": {"tokenize": "llama"},
        "files": {"tokenize": "none"},
        "more": {"tokenize": "none", "count_factor": 1.3},
        "fewer": {"tokenize": "none", "count_factor": 0.8},
        "short": {"max_model_len": 200},
        "told": {"told_len": 500},
    }
    arms = {name: {"serve": {**serve, **change}} for name, change in changes.items()}
    campaign = small.campaign(**arms)
    body = json.loads(campaign.read_text())
    body["defaults"]["serve"] = serve
    campaign.write_text(json.dumps(body))
    yield run(small, campaign)
    ENGINES.pop("stand-in", None)


def record(finished: tuple[RunFolder, RunResult], arm: str = "base") -> QualityRecord:
    return finished[1].records[arm]


def verdict(finished: tuple[RunFolder, RunResult], name: str, arm: str = "base") -> Verdict:
    return next(g for g in record(finished, arm).gates if g.gate == name).verdicts["00"]


def only_sample(finished: tuple[RunFolder, RunResult], name: str, arm: str = "base") -> SampleVerdict:
    (sample,) = verdict(finished, name, arm).samples
    return sample


def test_every_verdict_follows_from_the_files_alone(finished: tuple[RunFolder, RunResult]) -> None:
    assert_judges_the_same(finished[0])
    for arm in finished[1].records.values():
        assert_adds_up(arm)


def test_the_right_array_passes_with_its_length_counted_and_its_markers_placed(
    finished: tuple[RunFolder, RunResult],
) -> None:
    passed = verdict(finished, "right")
    assert passed.outcome is P
    length = passed.measurements["prompt_tokens"]["all-markers.0"]
    assert (length["counted"], length["reported"], length["promised_window"]) == (600, 600, 900)
    assert length["counted_by"] == "POST /tokenize of the messages"
    assert length["count_check"] == {"counted": 8, "served": 8}
    detail = passed.samples[0].detail["retrieval"]
    assert (detail["found"], detail["asked"], detail["partial"]) == (3, 3, 1.0)
    second = detail["placed"][1]
    assert second["tokens_asked"] == 300
    assert abs(second["token_offset"] - 300) <= 10


@pytest.mark.parametrize(
    ("arm", "by"),
    [
        ("sglang", "POST /tokenize of the prompt by the pinned template"),
        ("llama", "POST /apply-template, then /tokenize"),
        ("files", "tokenizer.json of the pinned model (sha256:"),
    ],
)
def test_each_way_to_count_is_exact_and_named(
    finished: tuple[RunFolder, RunResult], arm: str, by: str
) -> None:
    passed = verdict(finished, "right", arm)
    assert passed.outcome is P
    length = passed.measurements["prompt_tokens"]["all-markers.0"]
    assert (length["counted"], length["reported"]) == (600, 600)
    assert length["counted_by"].startswith(by)


@pytest.mark.parametrize(("arm", "served"), [("more", 780), ("fewer", 480)])
def test_a_server_that_counts_otherwise_is_labelled_by_its_own_count(
    finished: tuple[RunFolder, RunResult], arm: str, served: int
) -> None:
    passed = verdict(finished, "right", arm)
    assert passed.outcome is P
    assert [f.kind for f in passed.findings] == ["depth_label_off"]
    assert f"served as {served}" in passed.findings[0].message
    assert verdict(finished, "cut", arm).cause == "prompt_truncated"


def test_a_right_answer_in_the_wrong_form_keeps_its_partial_score_and_fails(
    finished: tuple[RunFolder, RunResult],
) -> None:
    sample = only_sample(finished, "as-text")
    assert sample.outcome is F
    assert sample.detail["retrieval"]["partial"] == 1.0
    assert {v.clause for v in sample.violations} == {"json"}


def test_decoys_count_against_an_answer(finished: tuple[RunFolder, RunResult]) -> None:
    sample = only_sample(finished, "from-a-decoy")
    assert sample.outcome is F
    assert [v.clause for v in sample.violations].count("decoy") == 2
    assert sample.detail["retrieval"]["found"] == 0


def test_markers_in_the_reasoning_alone_are_recorded_and_not_enough(
    finished: tuple[RunFolder, RunResult],
) -> None:
    sample = only_sample(finished, "in-reasoning")
    assert sample.outcome is F
    assert len(sample.detail["retrieval"]["only_in_reasoning"]) == 3


def test_an_echo_of_the_haystack_fails_though_it_holds_every_marker(
    finished: tuple[RunFolder, RunResult],
) -> None:
    sample = only_sample(finished, "echoed")
    assert sample.outcome is F
    assert {"echo", "finish"} <= {v.clause for v in sample.violations}


def test_a_silently_cut_prompt_is_a_runtime_failure_whatever_the_answer_says(
    finished: tuple[RunFolder, RunResult],
) -> None:
    sample = only_sample(finished, "cut")
    assert (sample.outcome, sample.cause) == (F, "prompt_truncated")
    assert {v.family for v in sample.violations} == {Family.RUNTIME}
    assert (sample.detail["prompt_tokens"], sample.detail["served_tokens"]) == (600, CUT_AT)
    assert any(
        "prompt_truncated: 600 prompt tokens sent, 300 served" in one for one in record(finished).limits
    )


@pytest.mark.parametrize("words", REFUSALS)
def test_a_refusal_within_the_promised_window_fails_in_every_wording(
    finished: tuple[RunFolder, RunResult], words: str
) -> None:
    sample = only_sample(finished, f"refused-{words}")
    assert (sample.outcome, sample.cause) == (F, "context_rejected")
    assert sample.violations[0].family is Family.RUNTIME
    assert sample.detail["prompt_tokens"] == 600
    assert "600 prompt tokens, window promised: 900" in sample.violations[0].message


def test_without_a_report_of_the_prompt_nothing_is_proven(finished: tuple[RunFolder, RunResult]) -> None:
    assert (verdict(finished, "unreported").outcome, verdict(finished, "unreported").cause) == (
        V,
        "length_unproven",
    )


def test_no_marker_has_one_right_answer(finished: tuple[RunFolder, RunResult]) -> None:
    assert verdict(finished, "no-marker").outcome is P


def test_what_exceeds_the_promised_window_is_not_sent(finished: tuple[RunFolder, RunResult]) -> None:
    skipped = verdict(finished, "right", "short")
    assert (skipped.outcome, skipped.because_of) == (S, "exceeds_context")
    assert "600 prompt tokens and 64 of answer in a window of 200" in str(skipped.message)
    assert not list(finished[0].boot("short", 0).root.glob("exchanges/right/*"))


def test_the_whole_window_is_what_the_arm_promises_less_the_answer(
    finished: tuple[RunFolder, RunResult],
) -> None:
    length = verdict(finished, "whole-window").measurements["prompt_tokens"]["all-markers.0"]
    assert length["reported"] == 900 - 64


def test_a_smaller_context_than_promised_is_found_and_stated(finished: tuple[RunFolder, RunResult]) -> None:
    told = record(finished, "told")
    assert [f.kind for f in told.findings if f.kind.startswith("effective")] == [
        "effective_input_limit_below_declared"
    ]
    assert any("900 tokens are promised and max_model_len is 500" in one for one in told.limits)
    assert not any("is promised" in one for one in record(finished).limits)


def test_the_record_says_what_retrieval_does_not_prove(finished: tuple[RunFolder, RunResult]) -> None:
    claim = next(one for one in record(finished).limits if one.startswith("right: "))
    assert "at most 600 prompt tokens" in claim
    assert "window of 900" in claim
    assert "concurrency above 1" in claim


def test_nothing_to_count_with_skips_and_says_what_was_tried(small: SmallWorkspace) -> None:
    small.ladder = [ladder()[0], gate("right")]
    campaign = small.campaign()
    body = json.loads(campaign.read_text())
    body["defaults"]["serve"]["tokenize"] = "none"
    campaign.write_text(json.dumps(body))
    folder, result = run(small, campaign)
    skipped = next(g for g in result.records["base"].gates if g.gate == "right").verdicts["00"]
    assert (skipped.outcome, skipped.because_of) == (S, "count_unavailable")
    for said in ("/tokenize answered 404", "/apply-template answered 404", "has no tokenizer.json"):
        assert said in str(skipped.message)
    assert_judges_the_same(folder)
