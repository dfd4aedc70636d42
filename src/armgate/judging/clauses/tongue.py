"""Clauses about scripts and languages of an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

import re2

from armgate.judging import limits
from armgate.judging.clauses.breach import Breach
from armgate.judging.text import Text
from armgate.judging.tongues import FUNCTION_WORDS, LANGUAGES_OF, SCRIPTS_OF
from armgate.model.clauses.base import compiled
from armgate.model.clauses.text import Language, Script

_LETTERS = compiled(r"\p{L}+")
_NO_MARKS = str.maketrans(dict.fromkeys('.,;:!?()"*_`', " "))
_SHARED_MARKS = r"\x{3005}\x{3006}\x{30FC}\x{FF70}"
"""Letters that Unicode counts to several scripts and that Japanese writes among its own."""


@lru_cache(maxsize=128)
def _letters_outside(scripts: tuple[str, ...]) -> re2._Regexp:
    """Runs of letters that belong to none of the scripts."""
    inside = "".join(rf"\p{{{name}}}" for name in scripts)
    shared = _SHARED_MARKS if {"Han", "Hiragana", "Katakana"} & set(scripts) else ""
    return compiled(rf"[^\P{{L}}{inside}{shared}]+")


@lru_cache(maxsize=128)
def _letters_in(scripts: tuple[str, ...]) -> re2._Regexp:
    return compiled("[" + "".join(rf"\p{{{name}}}" for name in scripts) + "]+")


def script(options: Script, text: Text) -> Iterator[Breach]:
    if len(text.value) > limits.PROSE_CHARS:
        yield _too_large(text)
        return
    judged = Text(text.channel, text.prose, whole=text.all) if options.ignore_code else text
    if options.mostly:
        share = _share(judged.data, options.mostly)
        if share < options.min_share:
            names = " and ".join(options.mostly)
            message = f"{share:.1%} of the letters are {names}, expected {options.min_share:.1%}"
            yield Breach("share" if share else "no_letters", message, judged.all, text.channel)
    if options.forbid:
        for found in _letters_in(options.forbid).finditer(judged.data):
            shown = found.group()[:90].decode("utf-8", "ignore")
            message = f"{shown!r} is written in {' or '.join(options.forbid)}"
            yield Breach("forbidden_script", message, judged.byte_span(*found.span()), text.channel)


def _too_large(text: Text) -> Breach:
    return Breach(
        "too_large", f"longer than {limits.PROSE_CHARS} characters, not judged", text.all, text.channel
    )


def _share(data: bytes, scripts: tuple[str, ...]) -> float:
    """Share of the letters that belong to one of the scripts; 0 where there is no letter."""
    foreign = _letters_outside(scripts)
    if foreign.search(data) is None:
        return 1.0 if _LETTERS.search(data) else 0.0
    # Each different character is classified once, however long the text is.
    counted = Counter(data.decode("utf-8", "surrogatepass"))
    letters = {c: n for c, n in counted.items() if c.isalpha()}
    outside = sum(n for c, n in letters.items() if foreign.search(c.encode("utf-8", "surrogatepass")))
    return 1 - outside / max(sum(letters.values()), 1)


def language(options: Language, text: Text) -> Iterator[Breach]:
    if len(text.value) > limits.PROSE_CHARS:
        yield _too_large(text)
        return
    judged = text.prose if options.ignore_code else text.value
    data = judged.encode("utf-8", "surrogatepass")
    scripts = SCRIPTS_OF[options.is_]
    share = _share(data, scripts)
    if share < 0.7:
        message = f"{share:.0%} of the letters are {' or '.join(scripts)}, the script of {options.is_!r}"
        yield Breach("other_script", message, text.all, text.channel)
        return
    if options.is_ in ("ja", "zh"):
        yield from _chinese_or_japanese(options.is_, data, text)
    elif options.is_ in FUNCTION_WORDS:
        yield from _by_function_words(options, judged, text)


def _chinese_or_japanese(wanted: str, data: bytes, text: Text) -> Iterator[Breach]:
    """Han alone tells neither: Japanese prose has kana, Chinese prose has none."""
    kana = _share(data, ("Hiragana", "Katakana"))
    if (kana > 0.05) != (wanted == "ja"):
        message = f"{kana:.0%} of the letters are kana, which is not {wanted!r}"
        yield Breach("other_language", message, text.all, text.channel)


def _by_function_words(options: Language, judged: str, text: Text) -> Iterator[Breach]:
    """The language whose commonest words occur most often among the words of the text."""
    words = judged.lower().translate(_NO_MARKS).split()
    if len(words) < options.min_words:
        message = f"{len(words)} words are too few to tell the language"
        yield Breach("too_short", message, text.all, text.channel)
        return
    score = dict.fromkeys(FUNCTION_WORDS, 0)
    for codes, count in Counter(filter(None, map(LANGUAGES_OF.get, words))).items():
        for code in codes:
            score[code] += count
    best = max(score, key=lambda code: (score[code], code == options.is_))
    if best != options.is_ or score[best] == 0:
        found = f"reads as {best!r}" if score[best] else "reads as no known language"
        message = f"{found}: {score[options.is_]} of {len(words)} words are common ones of {options.is_!r}"
        yield Breach("other_language", message, text.all, text.channel)
