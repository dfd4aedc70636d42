"""Builds a haystack of a counted length in few calls to the counter, and says where its markers are."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from itertools import cycle, islice
from typing import TypeAlias

from armgate.errors import UsageError
from armgate.loading.filler import Lines, filler_lines
from armgate.loading.markers import Assembled, Drawn, DrawnSet, assemble, draw
from armgate.model.base import digest_bytes
from armgate.model.haystack import Haystack, HaystackSpec, Planted

Count: TypeAlias = Callable[[str], int | Awaitable[int]]
"""Tokens of the whole prompt that this text makes, chat template included, as the server counts them."""

CALL_LIMIT = 60
FIRST_LINES = 400
"""Lines of the first trial: enough to learn a line's tokens from, and cheap to count."""

PLACING_LIMIT = 4
"""Corrections of a marker's line towards its offset in tokens."""

CHARACTERS_PER_TOKEN = 4
"""A first guess only; every later one follows from counts."""

PADDING = ("and", "so", "on", "it", "is", "as", "at", "in", "of", "to")
"""Words that are mostly one token each after a space: they set the last few tokens."""

PADDING_ROOM = 3
"""Tokens left free for padding: its line break and first word may cost more than one."""

PADDING_SHARE = 2000
"""In long texts a two-thousandth may be padding rather than lines: each count of the whole takes its time."""

PADDING_AT_ONCE = 64
"""But no more words than these."""

PADDING_LIMIT = 400
"""More than this is no padding: the filler ended too early, or its lines are too long."""


async def build_haystack(
    spec: HaystackSpec, count: Count, corpus: str | None = None, salt: str = ""
) -> Haystack:
    """Builds `spec`'s text to within its tolerance of the target, or raises `UsageError` saying why not.

    `corpus` is the text of a corpus filler's file, `salt` goes into a fresh prefix. With `lines` the text
    follows from the recipe alone and is only counted.
    """
    builder = _Builder(spec, draw(spec, salt), count, filler_lines(spec, corpus))
    if spec.lines is not None:
        await builder.place(spec.lines)
        return await builder.finish(spec.lines, 0)
    if not isinstance(spec.target_tokens, int):
        raise UsageError("haystack: its length is not known yet")
    lines = await builder.fit_lines(spec.target_tokens)
    await builder.place(lines)
    return await builder.finish(lines, await builder.fit_padding(lines, spec.target_tokens))


class _Builder:
    """One build: the drawn markers, the lines made so far and the counts already asked for."""

    def __init__(self, spec: HaystackSpec, drawn: DrawnSet, count: Count, lines: Lines) -> None:
        self.spec = spec
        self.lines = lines
        self.drawn = drawn
        self.calls = 0
        self._count = count
        self._known: dict[tuple[int, int], int] = {}
        self._overhead: int | None = None

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

        The first trial is short, so that few counts are of the whole length, and none is far beyond it.
        """
        goal = target - PADDING_ROOM
        low, low_tokens = 0, await self.tokens(0)
        if low_tokens > target:
            raise UsageError(f"haystack: {low_tokens} tokens before any filler, above the target of {target}")
        spare = min(target // PADDING_SHARE, PADDING_AT_ONCE)
        ceiling, per_line = self.lines.available, 2 * self.lines.mean_characters() / CHARACTERS_PER_TOKEN
        trial = FIRST_LINES
        while True:
            guess = low + min(int((goal - low_tokens) / per_line), trial)
            guess = guess if ceiling is None else min(guess, ceiling)
            trial = goal
            if guess <= low or goal - low_tokens <= spare:
                return low
            tokens = await self.tokens(guess)
            per_line = max((tokens - low_tokens) / (guess - low), 0.5)
            if tokens <= goal:
                low, low_tokens = guess, tokens
            else:
                ceiling = guess - 1

    async def place(self, lines: int) -> None:
        """Moves what was declared by an offset in tokens to the line that starts nearest to it."""
        if all(one.declared.at_tokens is None for one in self._planted_lines()):
            return
        whole, bare = await self.tokens(lines), await self.tokens(0)
        per_line = max((whole - bare) / max(lines, 1), 0.5)
        for number, one in enumerate(self._planted_lines()):
            if one.declared.at_tokens is not None:
                await self._place_one(number, one.declared.at_tokens, lines, per_line)
        self._known.clear()

    async def _place_one(self, number: int, at_tokens: int, lines: int, per_line: float) -> None:
        line = round(at_tokens / per_line)
        for _ in range(PLACING_LIMIT):
            line = min(max(line, 0), lines)
            self._move(number, line, lines)
            built = self.assembled(lines, 0)
            shift = round((at_tokens - await self.tokens_before(built, number)) / per_line)
            if shift == 0 or not 0 <= line + shift <= lines:
                return
            line += shift

    def _planted_lines(self) -> tuple[Drawn, ...]:
        return (*self.drawn.markers, *self.drawn.decoys)

    def _move(self, number: int, line: int, lines: int) -> None:
        """`assemble` plants before line `int(depth x n)`; a line's middle is not rounded to its neighbour."""
        depth = 1.0 if line >= lines else (line + 0.5) / lines
        planted = list(self._planted_lines())
        planted[number] = planted[number]._replace(depth=depth)
        split = len(self.drawn.markers)
        self.drawn = self.drawn._replace(markers=tuple(planted[:split]), decoys=tuple(planted[split:]))

    async def tokens_before(self, built: Assembled, number: int) -> int:
        """Tokens of the text before a planted string; the template's share is taken off."""
        offset = built.offsets[number]
        return await self.count(built.text[:offset]) - await self.overhead() if offset else 0

    async def overhead(self) -> int:
        """Tokens of a prompt beside its text: those of a text of one token, less that one."""
        if self._overhead is None:
            self._overhead = await self.count("x") - 1
        return self._overhead

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
        before = [await self.tokens_before(whole, n) for n in range(len(whole.offsets))]
        overhead = await self.overhead()
        share = max(counted - overhead, 1)
        planted = [
            _planted(one, offset, tokens, share)
            for one, offset, tokens in zip(self._planted_lines(), whole.offsets, before, strict=True)
        ]
        return Haystack(
            text=whole.text,
            sha256=digest_bytes(whole.text.encode("utf-8", "surrogatepass")),
            counted_tokens=counted,
            target_tokens=self.spec.target_tokens if isinstance(self.spec.target_tokens, int) else None,
            count_calls=self.calls,
            overhead_tokens=overhead,
            lines=lines,
            padding_words=words,
            markers=tuple(planted[: len(self.drawn.markers)]),
            decoys=tuple(planted[len(self.drawn.markers) :]),
        )

    def _refuse_leaks(self, text: str) -> None:
        """A marker that stands anywhere else, in the question say, would prove nothing."""
        for drawn in self._planted_lines():
            times = text.count(drawn.text)
            if times != 1:
                raise UsageError(f"haystack: {drawn.text!r} occurs {times} times in the text")


def _planted(drawn: Drawn, offset: int, tokens: int, share: int) -> Planted:
    by_tokens = drawn.declared.at_tokens is not None
    return Planted(
        id=drawn.id,
        text=drawn.text,
        depth_asked=drawn.depth if drawn.place == "line" and not by_tokens else None,
        tokens_asked=drawn.declared.at_tokens,
        char_offset=offset,
        token_offset=tokens,
        depth=tokens / share,
    )
