"""Builds a haystack of a counted length in few calls to the counter, and says where its markers are."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from itertools import cycle, islice
from typing import TypeAlias

from armgate.errors import UsageError
from armgate.loading.filler import Lines, filler_lines
from armgate.loading.markers import Assembled, Drawn, assemble, draw
from armgate.model.base import digest_bytes
from armgate.model.haystack import Haystack, HaystackSpec, Planted

Count: TypeAlias = Callable[[str], int | Awaitable[int]]
"""Tokens of the whole prompt that this text makes, chat template included, as the server counts them."""

CALL_LIMIT = 40
CHARACTERS_PER_TOKEN = 4
"""A first guess only; every later one follows from counts."""

PADDING = ("and", "so", "on", "it", "is", "as", "at", "in", "of", "to")
"""Words that are mostly one token each after a space: they set the last few tokens."""

PADDING_ROOM = 3
"""Tokens left free for padding: its line break and first word may cost more than one."""

PADDING_LIMIT = 400
"""More than this is no padding: the filler ended too early, or its lines are too long."""


async def build_haystack(spec: HaystackSpec, count: Count, corpus: str | None = None) -> Haystack:
    """Builds `spec`'s text to within its tolerance of the target, or raises `UsageError` saying why not.

    `corpus` is the text of a corpus filler's file. With `lines` the text follows from the recipe alone
    and is only counted.
    """
    builder = _Builder(spec, count, filler_lines(spec, corpus))
    if spec.lines is not None:
        return await builder.finish(spec.lines, 0)
    assert spec.target_tokens is not None
    lines = await builder.fit_lines(spec.target_tokens)
    return await builder.finish(lines, await builder.fit_padding(lines, spec.target_tokens))


class _Builder:
    """One build: the drawn markers, the lines made so far and the counts already asked for."""

    def __init__(self, spec: HaystackSpec, count: Count, lines: Lines) -> None:
        self.spec = spec
        self.lines = lines
        self.drawn = draw(spec)
        self.calls = 0
        self._count = count
        self._known: dict[tuple[int, int], int] = {}

    async def count(self, text: str) -> int:
        if self.calls >= CALL_LIMIT:
            raise UsageError(
                f"haystack: no length near {self.spec.target_tokens} tokens found in {CALL_LIMIT} counts"
            )
        self.calls += 1
        counted = self._count(text)
        return await counted if inspect.isawaitable(counted) else counted

    async def tokens(self, lines: int, words: int = 0) -> int:
        """Tokens of the prompt with so many filler lines and padding words; each asked for once."""
        if (lines, words) not in self._known:
            self._known[lines, words] = await self.count(self.assembled(lines, words).text)
        return self._known[lines, words]

    def assembled(self, lines: int, words: int) -> Assembled:
        padding = " ".join(islice(cycle(PADDING), words))
        return assemble(self.spec, self.drawn, self.lines.first(lines), padding)

    async def fit_lines(self, target: int) -> int:
        """Filler lines that leave less than a line's room, by interpolation between counted lengths.

        The first guess aims at half the length, as an overlong text may be refused by the counter.
        """
        goal = target - PADDING_ROOM
        low, low_tokens = 0, await self.tokens(0)
        if low_tokens > target:
            raise UsageError(f"haystack: {low_tokens} tokens before any filler, above the target of {target}")
        ceiling, per_line = self.lines.available, 2 * self.lines.mean_characters() / CHARACTERS_PER_TOKEN
        while True:
            guess = low + int((goal - low_tokens) / per_line)
            guess = guess if ceiling is None else min(guess, ceiling)
            if guess <= low:
                return low
            tokens = await self.tokens(guess)
            per_line = max((tokens - low_tokens) / (guess - low), 0.5)
            if tokens <= goal:
                low, low_tokens = guess, tokens
            else:
                ceiling = guess - 1

    async def fit_padding(self, lines: int, target: int) -> int:
        """Padding words that bring the count nearest to the target, within the tolerance."""
        gaps: dict[int, int] = {}
        words = 0
        while words >= 0 and words not in gaps:
            gaps[words] = target - await self.tokens(lines, words)
            if gaps[words] == 0:
                break
            words += gaps[words]
            if words > PADDING_LIMIT:
                raise UsageError(f"haystack: {gaps[0]} tokens short of {target} after {lines} lines")
        best = min(gaps, key=lambda tried: abs(gaps[tried]))
        if abs(gaps[best]) > self.spec.tolerance_tokens:
            raise UsageError(f"haystack: the nearest length is {abs(gaps[best])} tokens off {target}")
        return best

    async def finish(self, lines: int, words: int) -> Haystack:
        counted = await self.tokens(lines, words)
        whole = self.assembled(lines, words)
        self._refuse_leaks(whole.text)
        overhead = await self.count("x") - 1
        planted = [
            await self._planted(drawn, offset, whole.text, counted, overhead)
            for drawn, offset in zip((*self.drawn.markers, *self.drawn.decoys), whole.offsets, strict=True)
        ]
        return Haystack(
            text=whole.text,
            sha256=digest_bytes(whole.text.encode("utf-8", "surrogatepass")),
            counted_tokens=counted,
            target_tokens=self.spec.target_tokens,
            count_calls=self.calls,
            lines=lines,
            padding_words=words,
            markers=tuple(planted[: len(self.drawn.markers)]),
            decoys=tuple(planted[len(self.drawn.markers) :]),
        )

    def _refuse_leaks(self, text: str) -> None:
        """A marker that stands anywhere else, in the question say, would prove nothing."""
        for drawn in (*self.drawn.markers, *self.drawn.decoys):
            times = text.count(drawn.text)
            if times != 1:
                raise UsageError(f"haystack: {drawn.text!r} occurs {times} times in the text")

    async def _planted(self, drawn: Drawn, offset: int, text: str, counted: int, overhead: int) -> Planted:
        """Tokens before the marker are those of the text alone: the template's share is taken off."""
        before = await self.count(text[:offset]) - overhead if offset else 0
        return Planted(
            id=drawn.id,
            text=drawn.text,
            depth_asked=drawn.depth if drawn.place == "line" else None,
            char_offset=offset,
            token_offset=before,
            depth=before / max(counted - overhead, 1),
        )
