from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armgate.judging.retrieval import ECHO_WINDOW, echoed_spans, score_retrieval, shape_of_any, whole_spans
from armgate.model.outcome import Family
from armgate.model.response import Response

MARKER = "MARK-4417"
DECOYS = ("MARK-4471", "MARK-1447")
SENTENCE = f"The secret marker of the archive is {MARKER}. "
RECORD = "Record {}: Routine inventory maintenance and warehouse procedures took place here.\n"
FILLER = "".join(RECORD.format(n) for n in range(200))


def answer(content: str | None, reasoning: str | None = None, finish: str = "stop") -> Response:
    return Response(content=content, reasoning=reasoning, finish_reason=finish)


@pytest.mark.parametrize(
    ("response", "clauses"),
    [
        (answer(MARKER), []),
        (answer(f"The marker you asked for is {MARKER}."), []),
        (answer(f"MARK-4471, MARK-1447, {MARKER}"), ["decoy", "decoy"]),
        (answer("MARK-44170"), ["marker", "stranger"]),
        (answer("I could not find it.", f"I saw {MARKER} near the start"), ["marker"]),
        (answer("mark-4417"), ["marker"]),
        (answer(SENTENCE * 3, finish="length"), ["finish"]),
        (answer(None), ["marker"]),
        (answer("MARK-9999"), ["marker", "stranger"]),
    ],
    ids=[
        "short",
        "framed",
        "all_decoys",
        "superstring",
        "reasoning_only",
        "case_changed",
        "echo",
        "null",
        "invented",
    ],
)
def test_markers_must_come_back_whole_and_alone(response: Response, clauses: list[str]) -> None:
    score = score_retrieval(response, [MARKER], DECOYS, shape=r"MARK-\d+", filler=FILLER + SENTENCE)
    assert [violation.clause for violation in score.violations] == clauses
    assert score.retrieved is (clauses == [])
    assert all(violation.family is Family.SEMANTIC for violation in score.violations)


def test_spans_are_bytes_of_the_content() -> None:
    content = f"정답은 {MARKER}입니다"
    score = score_retrieval(answer(content), [MARKER])
    ((start, end),) = score.markers[0].spans
    assert content.encode()[start:end] == MARKER.encode()
    assert score.retrieved


def test_the_partial_score_counts_what_was_found_and_passes_nothing() -> None:
    score = score_retrieval(answer('["A-1", "B-2"', finish="stop"), ["A-1", "B-2", "C-3"])
    assert (score.found, score.asked, score.partial) == (2, 3, pytest.approx(2 / 3))
    assert not score.retrieved
    full = score_retrieval(answer("A-1 B-2 X-9"), ["A-1", "B-2"], ["X-9"])
    assert (full.partial, full.retrieved) == (1.0, False)


def test_order_is_that_of_the_first_occurrences() -> None:
    markers = ["A-1", "B-2", "C-3"]
    assert score_retrieval(answer("A-1, B-2, C-3, A-1"), markers).in_order is True
    assert score_retrieval(answer("B-2, A-1, C-3"), markers).in_order is False
    assert score_retrieval(answer("A-1, C-3"), markers).in_order is None


def test_hits_in_reasoning_only_are_recorded_as_such() -> None:
    score = score_retrieval(answer("A-1", "A-1 and B-2"), ["A-1", "B-2"])
    assert score.only_in_reasoning == ("B-2",)
    assert [hit.in_reasoning for hit in score.markers] == [True, True]
    assert score.violations[0].message == "B-2 found only in the reasoning"


def test_no_marker_planted_means_that_inventing_one_is_the_breach() -> None:
    assert score_retrieval(answer("[]"), [], shape=r"[A-Z]+-\d{4}").retrieved
    score = score_retrieval(answer('["AMBER-1234"]'), [], shape=r"[A-Z]+-\d{4}")
    assert [v.clause for v in score.violations] == ["stranger"]
    assert (score.partial, score.in_order) == (None, None)


def test_a_copy_of_the_haystack_is_no_answer() -> None:
    content = f"{RECORD.format(3)}{RECORD.format(4)}{MARKER}"
    score = score_retrieval(answer(content), [MARKER], filler=FILLER)
    assert [v.clause for v in score.violations] == ["echo"]
    assert score.echoed_bytes >= ECHO_WINDOW
    assert score.partial == 1.0
    assert score_retrieval(answer(content), [MARKER], filler="").retrieved


def test_a_needle_s_own_sentence_is_not_copying() -> None:
    assert score_retrieval(answer(SENTENCE.strip()), [MARKER], filler=FILLER + SENTENCE + FILLER).retrieved


@given(st.integers(0, len(FILLER) - 200), st.integers(3 * ECHO_WINDOW // 2, 190), st.text(max_size=70))
def test_every_copied_stretch_of_one_and_a_half_windows_is_found(at: int, length: int, before: str) -> None:
    content = before + FILLER[at : at + length]
    spans = echoed_spans(content, FILLER)
    assert spans
    raw = content.encode("utf-8", "surrogatepass")
    assert all(raw[start:end].decode() in FILLER for start, end in spans)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("MARK-4417", True),
        ('"MARK-4417"', True),
        ("(MARK-4417)", True),
        ("MARK-4417-", True),
        ("MARK-4417.", True),
        ("MARK-4417와", True),
        ("MARK-4417-B", False),
        ("X-MARK-4417", False),
        ("XMARK-4417", False),
        ("MARK-4417_", False),
        ("MARK-44177", False),
        ("MARK-4417\uff17", False),
        ("MARK-4417\u0667", False),
    ],
)
def test_boundaries(text: str, found: bool) -> None:
    assert bool(list(whole_spans(text, MARKER))) is found


@given(st.text(), st.text())
def test_every_span_holds_the_marker(before: str, after: str) -> None:
    content = f"{before}{MARKER}{after}"
    raw = content.encode("utf-8", "surrogatepass")
    for start, end in whole_spans(content, MARKER):
        assert raw[start:end] == MARKER.encode()


@pytest.mark.parametrize("patterns", [("{word}-##", "{word}-####"), ("{word}-####", "{word}-##")])
def test_a_marker_that_begins_like_a_shorter_one_is_no_stranger(patterns: tuple[str, str]) -> None:
    shape = shape_of_any(patterns)
    score = score_retrieval(answer("VIOLET-73, AMBER-5826"), ["VIOLET-73", "AMBER-5826"], shape=shape)
    assert score.retrieved
    invented = score_retrieval(
        answer("VIOLET-73, AMBER-5826, RUBY-12"), ["VIOLET-73", "AMBER-5826"], shape=shape
    )
    assert [text for text, _ in invented.strangers] == ["RUBY-12"]
