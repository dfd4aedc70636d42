"""Clauses about the words of an answer: exact text, contents, patterns, lengths."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator

from armgate.judging.clauses.breach import Breach, at
from armgate.judging.text import Text
from armgate.model.clauses.base import Range, compiled
from armgate.model.clauses.text import Contains, Exact, Length, NotContains, Regex

ASCII_BLANK = " \t\n\r"
_SENTENCE_END = compiled("""[.!?…]+["'”’»)\\]]*(?:\\s|\\z)|[。！？]+["'”’」』)\\]]*""")  # noqa: RUF001
_MARKDOWN = re.compile(r"^(?:[*_`~$\"']+|\\boxed\{|\\\(|\\\[)+(.*?)(?:[*_`~$\"']+|\}|\\\)|\\\])+$", re.DOTALL)


def exact(options: Exact, text: Text) -> Iterator[Breach]:
    given = text.value
    if options.whitespace == "trim_ascii_ws":
        given = given.strip(ASCII_BLANK)
    if given in options.texts:
        return
    kinds = {one: _difference(given, one) for one in options.texts}
    wanted = min(kinds, key=lambda one: (list(_SAYS).index(kinds[one]), abs(len(one) - len(given))))
    kind = kinds[wanted]
    start, end = _differs_at(text.value, wanted)
    yield at(text, kind, f"expected {_short(wanted)}, found {_short(text.value)} ({_SAYS[kind]})", start, end)


_SAYS = {
    "empty": "nothing at all",
    "whitespace": "white space at its ends",
    "lookalike": "characters that look alike or are not seen",
    "markdown": "Markdown or quotes around it",
    "punctuation": "punctuation around it",
    "letter_case": "other letter case",
    "extra_text": "other text around it",
    "truncated": "its end is missing",
    "different": "another text",
}


def _difference(given: str, wanted: str) -> str:
    """How `given` misses `wanted`, as a word; for people, never for the verdict."""
    if not given:
        return "empty"
    if len(given) > 4 * len(wanted) + 64:
        return "extra_text" if wanted in given else "different"
    bare, inside = wanted.strip(ASCII_BLANK), _MARKDOWN.match(given.strip(ASCII_BLANK))
    likenesses = {
        "whitespace": given.strip(ASCII_BLANK) == bare,
        "lookalike": _plain(given) == bare,
        "markdown": inside is not None and inside[1] == wanted,
        "punctuation": _without_punctuation(given) == _without_punctuation(wanted),
        "letter_case": given.casefold() == wanted.casefold(),
        "extra_text": wanted in given,
        "truncated": wanted.startswith(given),
    }
    return next((kind for kind, holds in likenesses.items() if holds), "different")


def _plain(text: str) -> str:
    """What a reader may take the text for: compatibility forms, digits and spaces made ASCII."""
    seen = "".join(c for c in text if unicodedata.category(c) != "Cf")
    folded = unicodedata.normalize("NFKC", seen).strip()
    return "".join(str(unicodedata.digit(c)) if c.isdecimal() else c for c in folded)


def _without_punctuation(text: str) -> str:
    ends = "".join({c for c in text if unicodedata.category(c)[0] in "PS"}) + ASCII_BLANK
    return text.strip(ends)


def _differs_at(given: str, wanted: str) -> tuple[int, int]:
    """Characters of `given` that are not `wanted`: what stands before or behind it, else what differs."""
    place = given.find(wanted) if wanted else -1
    if place == 0:
        return len(wanted), len(given)
    if place > 0:
        return (0, place) if place + len(wanted) == len(given) else (0, len(given))
    start = next((i for i, (a, b) in enumerate(zip(given, wanted, strict=False)) if a != b), None)
    return min(len(given), len(wanted)) if start is None else start, len(given)


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


def contains(options: Contains, text: Text) -> Iterator[Breach]:
    for wanted in options.texts:
        places = _occurrences(text, wanted, options.boundary, options.case)
        if options.times is None:
            if next(places, None) is None:
                yield Breach("missing", f"{_short(wanted)} does not occur", text.all, text.channel)
            continue
        count = sum(1 for _ in places)
        if not options.times.holds(count):
            message = f"{_short(wanted)} occurs {count} times, expected {options.times}"
            yield Breach("wrong_number", message, text.all, text.channel)


def not_contains(options: NotContains, text: Text) -> Iterator[Breach]:
    for refused in options.texts:
        for start in _occurrences(text, refused, options.boundary, options.case):
            yield at(text, "found", f"{_short(refused)} occurs", start, start + len(refused))


def _occurrences(text: Text, wanted: str, boundary: str, case: str) -> Iterator[int]:
    """Where `wanted` starts in the text, as characters."""
    given = text.value
    if case == "ignore_ascii":
        given, wanted = _lower_ascii(given), _lower_ascii(wanted)
    place = given.find(wanted)
    while place >= 0:
        end = place + len(wanted)
        inside = place > 0 and _continues(given[place - 1]) and _continues(wanted[0])
        runs_on = end < len(given) and _continues(given[end]) and _continues(wanted[-1])
        if boundary == "none" or not (inside or runs_on):
            yield place
        place = given.find(wanted, end)


def _lower_ascii(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


def _continues(char: str) -> bool:
    return char.isalnum() or char == "_"


def regex(options: Regex, text: Text) -> Iterator[Breach]:
    pattern = options.compiled
    if options.match == "full":
        if pattern.fullmatch(text.data) is None:
            message = f"the whole does not match {options.pattern!r}"
            yield Breach("no_match", message, text.all, text.channel)
    elif options.match == "never":
        for found in pattern.finditer(text.data):
            message = f"matches {options.pattern!r}: {_shown(found.group())}"
            yield Breach("match", message, text.byte_span(*found.span()), text.channel)
    elif options.only is None and options.times is None:
        if pattern.search(text.data) is None:
            yield Breach("no_match", f"nothing matches {options.pattern!r}", text.all, text.channel)
    else:
        yield from _search(options, text)


def _search(options: Regex, text: Text) -> Iterator[Breach]:
    """A search whose matches are counted and compared."""
    allowed = None if options.only is None else {one.encode() for one in options.only}
    count = 0
    for found in options.compiled.finditer(text.data):
        count += 1
        if allowed is not None and found.group() not in allowed:
            message = f"{_shown(found.group())} matches {options.pattern!r} and is none of those allowed"
            yield Breach("other_match", message, text.byte_span(*found.span()), text.channel)
    times = options.times or Range(min=1)
    if not times.holds(count):
        kind = "wrong_number" if count else "no_match"
        yield Breach(
            kind, f"{count} matches of {options.pattern!r}, expected {times}", text.all, text.channel
        )


def _shown(data: bytes) -> str:
    return _short(data[:120].decode("utf-8", "replace"))


def length(options: Length, text: Text) -> Iterator[Breach]:
    for what, measure in _MEASURES.items():
        wanted: Range | None = getattr(options, "bytes_" if what == "bytes" else what)
        if wanted is not None:
            count = measure(text)
            if not wanted.holds(count):
                yield Breach(what, f"{count} {what}, expected {wanted}", text.all, text.channel)


_MEASURES: dict[str, Callable[[Text], int]] = {
    "bytes": lambda text: len(text.data),
    "characters": lambda text: len(text.value),
    "lines": lambda text: count_lines(text.value),
    "words": lambda text: len(text.value.split()),
    "sentences": lambda text: count_sentences(text.data),
}


def count_lines(text: str) -> int:
    """Pieces between line ends (CRLF, CR, LF); a final line end opens no further line."""
    ends = text.count("\n") + text.count("\r") - text.count("\r\n")
    return ends + (text[-1:] not in ("", "\n", "\r"))


def count_sentences(data: bytes) -> int:
    """Pieces of UTF-8 text ended by a sentence mark before white space or the end, and a rest without one."""
    count = last = 0
    for ending in _SENTENCE_END.finditer(data):
        start, end = ending.span()
        count += bool(data[last:start].strip())
        last = end
    return count + bool(data[last:].strip())
