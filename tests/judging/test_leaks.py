from __future__ import annotations

from armgate.judging.leaks import find_leaks
from armgate.model.clauses.markers import REASONING_FAMILIES


def test_every_family_is_found_by_each_of_its_markers() -> None:
    for family in REASONING_FAMILIES:
        for marker in (*family.open, *family.close, *family.signs):
            found = [leak.family for leak in find_leaks(f"703 {marker} x".encode())]
            assert family.family in found, marker


def test_blocks_nest_within_their_family() -> None:
    leaks = list(find_leaks(b"<think>a<think>b</think>c</think>d"))
    assert [(leak.kind, leak.start, leak.end) for leak in leaks] == [("block", 8, 24), ("block", 0, 33)]


def test_what_leaked_is_counted_without_white_space_around_it() -> None:
    def leaked(text: str) -> list[int]:
        return [leak.leaked for leak in find_leaks(text.encode())]

    assert leaked("<think>\n\n</think>703") == [0]
    assert leaked("<think>\n ab \n</think>703") == [2]
    assert leaked("ab \n</think>703") == [2]
    assert leaked("703<think>\nab\n") == [2]


def test_a_close_of_another_family_closes_nothing() -> None:
    kinds = [leak.kind for leak in find_leaks(b"<think>a</mm:think>b")]
    assert kinds == ["orphan_close", "orphan_open"]


def test_markers_stay_linear() -> None:
    assert sum(1 for _ in find_leaks(b"<think>" * 20_000)) == 20_000
