from __future__ import annotations

from typing import Any

import pytest

from armgate.judging.heatmap import DepthHits, heat_map, retrieval_step
from armgate.model.arms import Arm, ProcessLauncher
from armgate.model.evidence import GateEvidence, Sample
from armgate.model.exchange import Exchange, Fate
from armgate.model.gates import Gate, Probe
from armgate.model.haystack import HaystackSpec, MarkerSpec
from armgate.model.outcome import Family, Finding, Outcome, SampleVerdict, Violation
from armgate.model.response import Response, Usage
from armgate.model.windows import PromptLength

ROWS = [DepthHits(2000, 10, 10), DepthHits(8000, 10, 10), DepthHits(8400, 1, 10), DepthHits(16000, 0, 10)]


def test_a_break_at_the_chunk_size_is_told_as_one() -> None:
    step = retrieval_step(ROWS, 8192)
    assert step is not None
    assert (step.last_good_tokens, step.first_bad_tokens, step.at_chunk_boundary) == (8000, 8400, True)


@pytest.mark.parametrize("chunk", [None, 4096, 8400, 9000])
def test_a_break_elsewhere_is_not_put_down_to_the_chunk(chunk: int | None) -> None:
    step = retrieval_step(ROWS, chunk)
    assert step is not None
    assert not step.at_chunk_boundary


def test_no_break_is_no_step() -> None:
    assert retrieval_step(ROWS[:2], 8192) is None
    assert retrieval_step(ROWS[2:], 8192) is None
    assert retrieval_step([], 8192) is None
    recovered = [DepthHits(1, 10, 10), DepthHits(2, 0, 10), DepthHits(3, 10, 10)]
    assert retrieval_step(recovered, None) is None
    assert retrieval_step([DepthHits(1, 0, 1), DepthHits(2, 1, 1), DepthHits(3, 0, 1)], None) is None


def sweep(*cells: tuple[int, int, SampleVerdict]) -> tuple[list[Any], list[Finding]]:
    """The table of cells, each with its length asked, its length served and its verdict."""
    samples, lengths = [], {}
    for number, (asked, served, _) in enumerate(cells):
        spec = HaystackSpec(target_tokens=asked, question="Q", markers=(MarkerSpec(id="one"),))
        probe = Probe(id=f"c{number}", haystack=spec)
        exchange = Exchange(request={}, status=200, headers={}, frames=(), fate=Fate.COMPLETE)
        samples.append(
            Sample(id=f"c{number}.0", probe=probe, n=0, path="x", exchange=exchange, response=Response())
        )
        lengths[f"c{number}.0"] = PromptLength.of(
            {"prompt_tokens": asked}, Usage(prompt_tokens=served, completion_tokens=1)
        )
    gate = Gate(id="g", check="retrieval", required=True, why="w", probes=tuple(s.probe for s in samples))
    evidence = GateEvidence(
        gate=gate, family=Family.SEMANTIC, arm=ARM, samples=tuple(samples), planned_samples=len(samples)
    )
    return heat_map(evidence, [verdict for *_, verdict in cells], lengths)


def failure(family: Family, cause: str | None = None) -> SampleVerdict:
    broken = Violation(clause="c", message="m", family=family)
    return SampleVerdict(sample="s", outcome=Outcome.FAILED, cause=cause, violations=(broken,))


ARM = Arm(
    name="a",
    engine="vllm",
    launcher=ProcessLauncher(kind="process", python="p"),
    target="t",
    reference="a",
)
RIGHT = SampleVerdict(sample="s", outcome=Outcome.PASSED)
WRONG = failure(Family.SEMANTIC)


def test_lengths_are_those_asked_however_they_were_served() -> None:
    cells = ((1000, 1000, RIGHT), (4000, 3999, RIGHT), (4000, 4001, WRONG), (8000, 8000, WRONG))
    _, (found,) = sweep(*cells)
    assert found.message == "right up to 4000 tokens, wrong from 8000 tokens on"


def test_a_prompt_that_was_cut_is_no_wrong_answer_and_its_row_says_why() -> None:
    cut = failure(Family.RUNTIME, "prompt_truncated")
    rows, found = sweep((1000, 1000, RIGHT), (4000, 2048, cut), (8000, 2049, cut))
    assert found == []
    assert [row["causes"] for row in rows] == [{}, {"prompt_truncated": 1}, {"prompt_truncated": 1}]
    assert [(row.get("failed"), row["wrong"]) for row in rows] == [(None, 0), (1, 0), (1, 0)]
