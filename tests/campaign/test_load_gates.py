"""Sustained generation, sweeps over lengths and depths, and drift, on whole runs against the stand-in."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from armgate.campaign.derived import RunResult, read_plan
from armgate.engines.registry import ENGINES
from armgate.model.outcome import Outcome, Verdict
from armgate.reporting.run_folder import RunFolder
from campaign.test_run import assert_adds_up, assert_judges_the_same, run
from support.stand_in import SmallWorkspace, register

P, F, S, V = Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED, Outcome.VOID

PROSE = (
    "A stone bridge begins with its piers, which stand on piles driven deep into the bed of the river. "
    "Wooden centring then carries each arch until its keystone is set and the mortar has had time to harden. "
    "After that the carpenters strike the timber, the spandrels are filled with rubble, and a road is laid. "
    "Floods are the worst enemy of such work, since water that cannot pass carries the whole crossing away."
)
KOREAN = "돌다리는 강바닥 아래의 기초 위에 세운 교각에서 시작하며 석공은 아치를 나무틀 위에 차례로 쌓습니다."
LOOP = "The arch is strong. " * 200

KOREAN_CONTRACT = """\
schema: armgate/contract/v1
id: in-korean
says: Korean.
clauses:
  - script: {mostly: [Hangul], min_share: 0.7}
examples:
  pass: ["돌다리"]
  fail: [{text: bridge, violates: [script]}]
"""

REPLIES: list[dict[str, Any]] = [
    {"match": "prose one", "text": PROSE},
    {"match": "prose two", "text": PROSE.upper()[:300]},
    {"match": "in a loop", "text": LOOP},
    {"match": "too long", "text": PROSE + " " + PROSE[::-1]},
    {"match": "essay ko", "text": KOREAN},
    {"match": "essay en", "text": PROSE},
    {"match": "capped one", "text": PROSE + PROSE[::-1], "stream_cap": 70},
    {"match": "capped two", "text": "First. " + PROSE + PROSE[::-1], "stream_cap": 70},
    {"match": "cut off", "text": PROSE, "fault": "length"},
    {"match": "sweep", "find": r"The code marker is ([A-Z]+-\d{4})\."},
    {"match": "say yes", "text": "no longer", "from_request": 8},
]


def sustained(name: str, *prompts: str, **changes: Any) -> dict[str, Any]:
    probes = [{"id": f"p{n}", "prompt": prompt, "max_tokens": "window"} for n, prompt in enumerate(prompts)]
    made = {"id": name, "check": "sustained", "required": False, "why": "w", "probes": probes}
    return {**made, **changes}


LADDER: list[dict[str, Any]] = [
    {"id": "yes", "check": "contract", "contract": "says-yes", "required": True, "why": "w",
     "probes": [{"id": "yes", "prompt": "say yes"}]},
    sustained("natural", "prose one", "prose two"),
    sustained("looping", "in a loop"),
    sustained("korean", "essay ko", contract="in-korean"),
    sustained("not-korean", "essay en", contract="in-korean"),
    sustained("capped", "capped one", "capped two"),
    sustained("cut", "cut off"),
    {"id": "at-cap", "check": "sustained", "required": False, "why": "w",
     "probes": [{"id": "p0", "prompt": "too long", "max_tokens": 90}]},
    {"id": "sweep", "check": "retrieval", "required": False, "why": "w", "options": {"max_tokens": 16},
     "haystack": {"question": "This is the sweep.", "markers": [{"id": "code"}], "tolerance_tokens": 0},
     "sweep": {"lengths": [200, 400, 5000], "depths": [0, 1], "seeds": [1, 2], "repeats": 1}},
]  # fmt: skip


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunFolder, RunResult]]:
    register()
    small = SmallWorkspace.make(tmp_path_factory.mktemp("load"))
    small.ladder = LADDER
    (small.root / "contracts" / "in-korean.yaml").write_text(KOREAN_CONTRACT)
    serve = {"replies": small.replies("load", *REPLIES), "caching": True}
    campaign = small.campaign()
    body = json.loads(campaign.read_text())
    body["defaults"]["serve"] = serve
    campaign.write_text(json.dumps(body))
    path = small.root / "gates" / "small.yaml"
    path.write_text(json.dumps({**json.loads(path.read_text()), "drift": {}}))
    yield run(small, campaign)
    ENGINES.pop("stand-in", None)


def verdict(finished: tuple[RunFolder, RunResult], name: str) -> Verdict:
    return next(g for g in finished[1].records["base"].gates if g.gate == name).verdicts["00"]


def test_every_verdict_follows_from_the_files_alone(finished: tuple[RunFolder, RunResult]) -> None:
    assert_judges_the_same(finished[0])
    assert_adds_up(finished[1].records["base"])


def test_natural_texts_have_a_rate_with_their_lengths_beside_it(
    finished: tuple[RunFolder, RunResult],
) -> None:
    passed = verdict(finished, "natural")
    assert passed.outcome is P
    assert set(passed.measurements["rates"]) == {"p0", "p1"}
    length = passed.measurements["lengths"]["p0.0"]
    assert (length["completion_tokens"], length["effective_stop"]) == (len(PROSE.split()), "stop")
    assert length["cap_tokens"] == 4096 - length["prompt_tokens"]
    assert passed.measurements["excluded_from_rates"] == {}


@pytest.mark.parametrize(
    ("name", "cause", "clause"),
    [
        ("looping", "no_degeneration:loop", "no_degeneration"),
        ("not-korean", "script:no_letters", "script"),
        ("cut", "length_stop", "finish"),
        ("at-cap", "length_stop", "finish"),
    ],
)
def test_what_is_no_natural_text_fails_and_has_no_rate(
    finished: tuple[RunFolder, RunResult], name: str, cause: str, clause: str
) -> None:
    failed = verdict(finished, name)
    (sample,) = failed.samples
    if name == "cut":
        # Called a length stop below the cap: the server ended it, so nothing is known of the model's ending.
        assert (failed.outcome, sample.cause) == (V, "cap_not_honoured")
    else:
        assert (failed.outcome, sample.cause) == (F, cause)
        assert clause in {v.clause for v in sample.violations}
    assert failed.measurements["rates"] == {}
    assert set(failed.measurements["excluded_from_rates"]) == {"p0.0"}


def test_a_korean_essay_is_held_to_its_script(finished: tuple[RunFolder, RunResult]) -> None:
    assert verdict(finished, "korean").outcome is P


def test_streams_that_all_stop_at_one_length_are_no_natural_stops(
    finished: tuple[RunFolder, RunResult],
) -> None:
    capped = verdict(finished, "capped")
    assert (capped.outcome, capped.cause) == (V, "capped_silently")
    assert "stop after exactly 70 tokens" in str(capped.message)
    assert capped.measurements["rates"] == {}


def test_a_sweep_is_a_table_of_lengths_and_depths(finished: tuple[RunFolder, RunResult]) -> None:
    swept = verdict(finished, "sweep")
    rows = swept.measurements["heat_map"]
    assert len(rows) == 3 * 2 * 2
    assert [(r["length"], r["depth"], r["seed"]) for r in rows[:3]] == [(200, 0, 1), (200, 0, 2), (200, 1, 1)]
    sent = [row for row in rows if row["not_sent"] is None]
    assert {(row["length"], row["served_tokens"]) for row in sent} == {(200, 200), (400, 400)}
    assert all((row["n"], row.get("passed")) == (2, 2) for row in sent)
    assert {row["not_sent"] for row in rows if row["length"] == 5000} == {"exceeds_context"}
    # Four of twelve cells were never sent: neither a pass nor a failure of the whole.
    assert (swept.outcome, swept.open_bounds) == (V, (16, 24))
    assert {f.kind for f in swept.findings} == {"exceeds_context"}


def test_repeats_of_a_prefix_measure_the_cache_and_first_sights_are_fresh(
    finished: tuple[RunFolder, RunResult],
) -> None:
    swept = verdict(finished, "sweep")
    lengths = swept.measurements["prompt_tokens"]
    # The template's five words and the two that every fresh prefix begins with.
    assert lengths["400.d0.s1.0"]["cached"] <= 7
    assert lengths["400.d0.s2.0"]["cached"] == 7
    assert lengths["400.d0.s1.1"]["cached"] == 400
    caching = swept.measurements["caching"]["400.d0.s1"]
    assert caching["cold_s"] is not None
    assert len(caching["warm_s"]) == 1


def test_a_contract_that_broke_under_load_is_a_finding_of_its_own(
    finished: tuple[RunFolder, RunResult],
) -> None:
    assert verdict(finished, "yes").outcome is P
    again = verdict(finished, "yes-again")
    assert again.outcome is F
    assert not again.required
    assert [f.kind for f in again.findings] == ["drift"]
    assert "yes passed at the start of the boot and failed at its end: yes.0" in again.findings[0].message
    assert finished[1].exit_code == 0


def test_the_plan_counts_what_drift_and_sweeps_send(finished: tuple[RunFolder, RunResult]) -> None:
    plan = read_plan(finished[0]).plan
    assert plan.gate_ids[-1] == "yes-again"
    assert plan.gate("yes-again").repeat_of == "yes"
    assert plan.counts.requests == 2 + 9 + 24
    assert plan.gate("yes-again").gate.contract == "says-yes"
