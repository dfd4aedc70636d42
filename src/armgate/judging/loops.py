"""Degeneration in a text: pieces repeated over and over, and endless white space. Linear in the text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

_PROBE = 16
_CANDIDATES = 3
_ANCHORS = 20_000
"""In texts beyond some 2.5 million characters anchors stand farther apart and only longer runs are found."""


class Loop(NamedTuple):
    """A run of one piece, at characters `start` to `end`."""

    start: int
    end: int
    unit: int
    """Characters of the piece."""

    @property
    def repeats(self) -> int:
        return (self.end - self.start) // self.unit


def blank_runs(text: str, longest: int) -> Iterator[tuple[int, int]]:
    """Runs of more than `longest` white-space characters, as character offsets."""
    # A run of that length holds a whole piece at one of these offsets.
    piece = longest // 2
    behind = 0
    for at in range(0, len(text), piece):
        if at >= behind and text[at : at + piece].isspace():
            start = at - _blanks_before(text, at, piece)
            behind = at
            while text[behind : behind + piece].isspace():
                behind += piece
            rest = text[behind : behind + piece]
            behind = min(behind + len(rest) - len(rest.lstrip()), len(text))
            if behind - start > longest:
                yield start, behind


def _blanks_before(text: str, at: int, piece: int) -> int:
    before = text[max(0, at - piece) : at]
    return len(before) - len(before.rstrip())


def loops(text: str, unit: int, repeats: int, loop_chars: int) -> Iterator[Loop]:
    """Runs of a piece of at most `unit` characters, `repeats` times or more, `loop_chars` or longer.

    White space alone is no loop; `blank_runs` finds it. Anchors are set so densely that any such run
    holds one with a whole probe and one more piece behind it; only distances at which the probe recurs
    are tried.
    """
    spacing = max(loop_chars - loop_chars // repeats - _PROBE, 8, len(text) // _ANCHORS)
    behind = 0
    for anchor in range(0, len(text) - _PROBE, spacing):
        probe = text[anchor : anchor + _PROBE]
        at = text.find(probe, anchor + 1, anchor + unit + _PROBE)
        if at < 0 or anchor < behind or probe.isspace():
            continue
        found = _loop_at(text, anchor, at, unit, max(loop_chars, spacing))
        if found is not None and found.end - found.start >= max(loop_chars, found.unit * repeats):
            yield found
            behind = found.end


def _loop_at(text: str, anchor: int, at: int, unit: int, back: int) -> Loop | None:
    """The longest run found from `anchor` on, whose probe recurs at `at`.

    Where a piece repeats within itself, the first recurrence is not the piece; the next probe is laid over
    the character at which that shorter repetition ends.
    """
    best: Loop | None = None
    for _ in range(_CANDIDATES):
        start = anchor - _agreement_before(text, anchor, at, back)
        end = at + _agreement(text, anchor, at)
        if best is None or end - start > best.end - best.start:
            best = Loop(start, end, at - anchor)
        anchor = end - _PROBE + 1
        probe = text[anchor : anchor + _PROBE]
        at = text.find(probe, anchor + 1, anchor + unit + _PROBE) if len(probe) == _PROBE else -1
        if at < 0:
            break
    return best


def _agreement(text: str, first: int, second: int) -> int:
    """Characters from `first` on that equal those from `second` on."""
    step, done = 256, 0
    while text[first + done : first + done + step] == text[second + done : second + done + step]:
        if second + done + step >= len(text):
            return len(text) - second
        done += step
        step = min(step * 2, 1 << 16)
    while step > 1:
        step //= 2
        if text[first + done : first + done + step] == text[second + done : second + done + step]:
            done += step
    return min(done, len(text) - second)


def _agreement_before(text: str, first: int, second: int, most: int) -> int:
    """Characters before `first`, at most `most`, that equal those before `second`, counted backwards."""
    done, left = 0, min(first, most)
    while left > done:
        half = (left - done + 1) // 2
        if text[first - done - half : first - done] == text[second - done - half : second - done]:
            done += half
        else:
            left = done + half - 1
    return done
