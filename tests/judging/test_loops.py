from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from armgate.judging.loops import blank_runs, loops

PROSE = "".join(f"Sentence {number} says {number * 37 % 101} things. " for number in range(60))


def _loops(text: str) -> list[tuple[int, int, int]]:
    return [(loop.start, loop.end, loop.unit) for loop in loops(text, 400, 6, 200)]


def test_a_run_of_one_piece_is_found_wherever_it_stands() -> None:
    for piece in ("a", "ab ", "I will list three tags. ", "x" * 30 + "y" * 30):
        run = piece * (240 // len(piece) + 6)
        for text in (run, PROSE + run, run + PROSE, PROSE + run + PROSE):
            found = _loops(text)
            assert len(found) == 1, piece
            assert found[0][1] - found[0][0] >= len(run)


def test_prose_and_short_repeats_are_no_loops() -> None:
    assert _loops(PROSE) == []
    assert _loops(PROSE + "very " * 10 + PROSE) == []


def test_blank_runs_are_found_with_their_ends() -> None:
    for before, blank, behind in (("", 150, "x"), ("abc", 121, ""), ("a" * 999, 500, "b" * 99)):
        text = before + " \n" * (blank // 2) + " " * (blank % 2) + behind
        assert list(blank_runs(text, 120)) == [(len(before), len(before) + blank)]
    assert list(blank_runs("a" + " " * 120 + "b", 120)) == []


@given(st.integers(0, 400), st.integers(121, 600), st.integers(0, 400))
def test_no_blank_run_above_the_limit_is_missed(before: int, blank: int, behind: int) -> None:
    text = "a" * before + " " * blank + "b" * behind
    assert list(blank_runs(text, 120)) == [(before, before + blank)]


@given(st.integers(0, 300), st.text("abc", min_size=1, max_size=40), st.integers(0, 300))
def test_no_loop_above_the_limit_is_missed(before: int, piece: str, behind: int) -> None:
    run = piece * max(7, 260 // len(piece) + 2)
    text = PROSE[:before] + run + PROSE[:behind]
    assert any(end - start >= len(run) - len(piece) for start, end, _ in _loops(text))
