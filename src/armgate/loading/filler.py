"""Makes filler lines for haystacks: numbered records, seeded prose, or a user's corpus."""

from __future__ import annotations

import random
import textwrap
from collections.abc import Iterator
from itertools import count, islice

from armgate.errors import UsageError
from armgate.model.haystack import CorpusFiller, HaystackSpec, RecordsFiller

CORPUS_LINE_CHARACTERS = 400

_SUBJECTS = (
    "The harbour office",
    "A night clerk",
    "The repair crew",
    "Our survey team",
    "The records desk",
    "A visiting engineer",
    "The district council",
    "The older warehouse",
    "A delivery driver",
    "The weather station",
    "The training group",
    "A retired teacher",
)
_VERBS = (
    "described",
    "counted",
    "moved",
    "checked",
    "repaired",
    "painted",
    "measured",
    "stored",
    "listed",
    "cleaned",
    "borrowed",
    "replaced",
)
_OBJECTS = (
    "the wooden crates",
    "a row of lamps",
    "the spare pumps",
    "some folded maps",
    "the glass bottles",
    "a broken gate",
    "the copper pipes",
    "several ladders",
    "the winter coats",
    "a set of scales",
    "the empty shelves",
    "two small boats",
)
_ENDS = (
    "before the rain began",
    "without any hurry",
    "near the northern fence",
    "during the long afternoon",
    "while the market was closed",
    "as the schedule required",
    "after a short discussion",
    "beside the old canal",
    "for the third time that month",
    "under a grey sky",
    "with the usual care",
    "long after sunset",
)


class Lines:
    """Filler lines made on demand and kept. `available` is `None` where they never run out."""

    def __init__(self, source: Iterator[str], available: int | None = None) -> None:
        self.available = available
        self._source = source
        self._made: list[str] = []

    def first(self, n: int) -> list[str]:
        self._made.extend(islice(self._source, max(n - len(self._made), 0)))
        if len(self._made) < n:
            raise UsageError(f"haystack: the corpus has {len(self._made)} lines, {n} are needed")
        return self._made[:n]

    def mean_characters(self) -> float:
        """Over the first lines, the line break included; to guess how many lines a length takes."""
        some = self.first(min(64, self.available if self.available is not None else 64))
        return sum(len(line) + 1 for line in some) / max(len(some), 1)


def filler_lines(spec: HaystackSpec, corpus: str | None = None) -> Lines:
    """The lines of `spec`'s filler. `corpus` is the text of a corpus filler's file, already digested."""
    filler = spec.filler
    if isinstance(filler, RecordsFiller):
        return Lines(filler.line.replace("{number}", f"{number:05d}") for number in count())
    if isinstance(filler, CorpusFiller):
        if corpus is None:
            raise UsageError(f"haystack: the text of {filler.file} was not given")
        lines = [part for line in corpus.splitlines() if line.strip() for part in _broken(line)]
        return Lines(iter(lines), available=len(lines))
    return Lines(_prose(random.Random(f"{spec.seed}:prose")))  # noqa: S311 - repeatable, not secret


def _prose(chance: random.Random) -> Iterator[str]:
    while True:
        sentences = (
            f"{chance.choice(_SUBJECTS)} {chance.choice(_VERBS)} {chance.choice(_OBJECTS)} "
            f"{chance.choice(_ENDS)}."
            for _ in range(chance.randint(1, 3))
        )
        yield " ".join(sentences)


def _broken(line: str) -> list[str]:
    if len(line) <= CORPUS_LINE_CHARACTERS:
        return [line]
    return textwrap.wrap(line, CORPUS_LINE_CHARACTERS, break_on_hyphens=False)
