"""Scores marker retrieval: which planted strings came back, where, and what spoils the answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import re2

from armgate.model.base import Frozen
from armgate.model.outcome import Family, Violation
from armgate.model.response import Channel, Response

ECHO_WINDOW = 64
"""A stretch of filler at least this long, verbatim, is copying; a needle's own sentence is shorter."""

Span = tuple[int, int]


class MarkerHit(Frozen):
    """One marker: byte spans in the content, and whether it was at least in the reasoning."""

    marker: str
    spans: tuple[Span, ...]
    in_reasoning: bool


class RetrievalScore(Frozen):
    """`partial` is a measurement beside the verdict: an answer with violations stays failed at 1.0."""

    markers: tuple[MarkerHit, ...]
    found: int
    asked: int
    partial: float | None
    """found/asked; `None` where no marker was planted."""
    in_order: bool | None
    """First occurrences come in the order asked; `None` unless all were found."""
    only_in_reasoning: tuple[str, ...]
    decoys: tuple[tuple[str, Span], ...]
    strangers: tuple[tuple[str, Span], ...]
    """Strings of a marker's shape in the content that were neither planted nor asked for."""
    echoed_bytes: int
    violations: tuple[Violation, ...]

    @property
    def retrieved(self) -> bool:
        return not self.violations


def score_retrieval(
    response: Response,
    markers: Sequence[str],
    decoys: Sequence[str] = (),
    shape: str | None = None,
    filler: str = "",
) -> RetrievalScore:
    """Looks for `markers` in the content as whole words, case as planted; nothing is trimmed or folded.

    `shape` is a pattern (RE2) that every marker matches: other matches are strangers. `filler` is the
    haystack's text, to tell an answer from a copy. The form of the answer is a contract's business.
    """
    content, reasoning = response.content or "", response.reasoning or ""
    hits = tuple(
        MarkerHit(
            marker=marker,
            spans=tuple(whole_spans(content, marker)),
            in_reasoning=any(True for _ in whole_spans(reasoning, marker)),
        )
        for marker in markers
    )
    caught = tuple((decoy, span) for decoy in decoys for span in whole_spans(content, decoy))
    strangers = tuple(_strangers(content, shape, {*markers, *decoys}))
    echoed = echoed_spans(content, filler)
    found = [hit for hit in hits if hit.spans]
    return RetrievalScore(
        markers=hits,
        found=len(found),
        asked=len(hits),
        partial=len(found) / len(hits) if hits else None,
        in_order=_in_order(hits) if hits and len(found) == len(hits) else None,
        only_in_reasoning=tuple(hit.marker for hit in hits if not hit.spans and hit.in_reasoning),
        decoys=caught,
        strangers=strangers,
        echoed_bytes=sum(end - start for start, end in echoed),
        violations=tuple(_violations(response, hits, caught, strangers, echoed)),
    )


def shape_of_any(patterns: Iterable[str]) -> str:
    """A regular expression (RE2) for all of them, the longest first: it may begin with a shorter one."""
    return "|".join(shape_of(one) for one in sorted(set(patterns), key=lambda one: (-len(one), one)))


def shape_of(pattern: str) -> str:
    """A regular expression (RE2) of the strings that a marker's pattern draws."""
    signs = {"#": "[0-9]", "@": "[A-Z]"}
    parts = (
        "".join(signs.get(sign) or re2.escape(sign) for sign in part) for part in pattern.split("{word}")
    )
    return "[A-Z]+".join(parts)


def whole_spans(text: str, wanted: str) -> Iterator[Span]:
    """Byte spans of `wanted` in `text` where it is not part of a longer word, number or hyphenated string.

    Only ASCII letters count as continuing a word: particles of other scripts attach without a space.
    """
    at = text.find(wanted) if wanted else -1
    while at >= 0:
        end = at + len(wanted)
        if not _continues(text[:at][-2:][::-1]) and not _continues(text[end : end + 2]):
            start_byte = _bytes(text[:at])
            yield start_byte, start_byte + _bytes(wanted)
        at = text.find(wanted, at + 1)


def echoed_spans(content: str, filler: str) -> list[Span]:
    """Byte spans of the content's stretches that stand verbatim in the filler.

    Windows start every half window, so every copied stretch of one and a half windows is found.
    """
    spans: list[Span] = []
    for at in range(0, len(content) - ECHO_WINDOW + 1, ECHO_WINDOW // 2):
        window = content[at : at + ECHO_WINDOW]
        if window not in filler:
            continue
        start = _bytes(content[:at])
        end = start + _bytes(window)
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def _continues(neighbours: str) -> bool:
    """Whether the next one or two characters, outward, carry the word on."""
    first, second = neighbours[:1], neighbours[1:2]
    return _in_word(first) or (first == "-" and _in_word(second))


def _in_word(character: str) -> bool:
    return (character.isascii() and (character.isalnum() or character == "_")) or character.isdecimal()


def _strangers(content: str, shape: str | None, known: set[str]) -> Iterator[tuple[str, Span]]:
    if shape is None:
        return
    for match in re2.finditer(shape, content):
        start, end = match.span()
        whole = not _continues(content[:start][-2:][::-1]) and not _continues(content[end : end + 2])
        if whole and match.group() not in known:
            yield match.group(), (_bytes(content[:start]), _bytes(content[:end]))


def _in_order(hits: Sequence[MarkerHit]) -> bool:
    starts = [hit.spans[0][0] for hit in hits]
    return starts == sorted(starts)


def _violations(
    response: Response,
    hits: Sequence[MarkerHit],
    caught: Sequence[tuple[str, Span]],
    strangers: Sequence[tuple[str, Span]],
    echoed: Sequence[Span],
) -> Iterable[Violation]:
    for hit in hits:
        if not hit.spans:
            where = "found only in the reasoning" if hit.in_reasoning else "not found"
            yield _violation("marker", f"{hit.marker} {where}", None)
    for decoy, span in caught:
        yield _violation("decoy", f"{decoy} is a decoy", span)
    for stranger, span in strangers:
        yield _violation("stranger", f"{stranger} was never planted", span)
    for span in echoed:
        yield _violation("echo", f"{span[1] - span[0]} bytes copied from the haystack", span)
    if response.finish_reason == "length":
        yield _violation("finish", "cut off at the cap, so what would have followed is not known", None)


def _violation(clause: str, message: str, span: Span | None) -> Violation:
    return Violation(
        clause=clause, message=message, channel=Channel.CONTENT, span=span, family=Family.SEMANTIC
    )


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
