"""Clauses about what must not be in an answer: leaked reasoning, odd characters, loops."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import re2

from armgate.judging import limits
from armgate.judging.clauses.breach import Breach, at
from armgate.judging.leaks import KNOWN, Leak, find_leaks, is_mention, markers
from armgate.judging.loops import blank_runs, loops
from armgate.judging.subject import Subject
from armgate.judging.text import Text
from armgate.model.clauses.base import compiled
from armgate.model.clauses.hygiene import (
    NoDegeneration,
    NoInvisibleCharacters,
    NoReasoningLeak,
    NoReplacementCharacters,
    NoSpecialTokens,
)
from armgate.model.clauses.markers import REASONING_FAMILIES, SPECIAL_TOKENS


def no_reasoning_leak(options: NoReasoningLeak, text: Text) -> Iterator[Breach]:
    known = KNOWN
    if options.families is not None or options.extra:
        chosen = [f for f in REASONING_FAMILIES if options.families is None or f.family in options.families]
        known = markers((*chosen, *options.extra))
    text_start = len(text.data) - len(text.data.lstrip())
    for number, leak in enumerate(find_leaks(text.data, known)):
        if number == limits.MARKERS:
            message = f"more than {limits.MARKERS} markers; the rest is not judged"
            yield Breach("too_many_markers", message, text.byte_span(leak.start, leak.end), text.channel)
            return
        if leak.kind == "empty_block" and options.empty_block == "allowed":
            continue
        if options.allow_tag_words and is_mention(text.data, leak, text_start):
            continue
        yield Breach(leak.kind, _leak_message(leak), text.byte_span(leak.start, leak.end), text.channel)


def _leak_message(leak: Leak) -> str:
    says = {
        "block": f"a block of {leak.leaked} bytes of reasoning is visible",
        "empty_block": "an empty think block is visible; no reasoning leaked",
        "orphan_open": f"{leak.marker} opens a block that is never closed",
        "orphan_close": f"{leak.marker} closes a block that never opened: {leak.leaked} bytes before it",
        "sign": f"{leak.marker} marks a channel of its own",
    }
    return f"{says[leak.kind]} ({leak.marker} of family {leak.family} at byte {leak.start})"


@lru_cache(maxsize=64)
def _any_of(texts: tuple[str, ...]) -> re2._Regexp:
    return compiled("|".join(re2.escape(one) for one in sorted(texts, key=len, reverse=True)))


_SPECIAL_TOKENS = _any_of(SPECIAL_TOKENS)


def no_special_tokens(options: NoSpecialTokens, text: Text) -> Iterator[Breach]:
    tokens = _any_of((*SPECIAL_TOKENS, *options.extra)) if options.extra else _SPECIAL_TOKENS
    for found in tokens.finditer(text.data):
        message = f"the control token {found.group().decode()} is visible"
        yield Breach("special_token", message, text.byte_span(*found.span()), text.channel)


def no_replacement_characters(options: NoReplacementCharacters, subject: Subject) -> Iterator[Breach]:
    text = subject.text(options.channel)
    if text is None or "\ufffd" not in text.value:
        return
    on_the_wire = subject.replacements_on_the_wire
    source = "" if on_the_wire is None else f"; {on_the_wire} were in the recorded body"
    for run in re.finditer("\ufffd+", text.value):
        message = (
            f"{run.end() - run.start()} U+FFFD REPLACEMENT CHARACTER at {text.place(run.start())}{source}"
        )
        yield at(text, "replacement_character", message, *run.span())


_INVISIBLE = (
    "\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_ODD_SPACES = "\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
_UNSEEN = f"[{_INVISIBLE}]"
_UNSEEN_OR_ODD = f"[{_INVISIBLE}{_ODD_SPACES}]"
_QUICK = {pattern: compiled(pattern) for pattern in (_UNSEEN, _UNSEEN_OR_ODD)}
_EACH = {pattern: re.compile(pattern) for pattern in (_UNSEEN, _UNSEEN_OR_ODD)}
_JOINERS = "\u200c\u200d"


def no_invisible_characters(options: NoInvisibleCharacters, text: Text) -> Iterator[Breach]:
    pattern = _UNSEEN_OR_ODD if options.odd_spaces == "refused" else _UNSEEN
    if _QUICK[pattern].search(text.data) is None:
        return
    allowed = {chr(int(code[2:], 16)) for code in options.allow}
    for number, found in enumerate(_EACH[pattern].finditer(text.value)):
        if number == limits.MARKERS:
            message = f"more than {limits.MARKERS} of them; the rest is not judged"
            yield at(text, "too_many_characters", message, *found.span())
            return
        char = found[0]
        if char not in allowed and not _is_needed(char, text.value, found.start()):
            kind = "odd_space" if unicodedata.category(char) == "Zs" else "invisible"
            name = unicodedata.name(char, "control character")
            yield at(text, kind, f"U+{ord(char):04X} {name} at {text.place(found.start())}", *found.span())


def _is_needed(char: str, value: str, place: int) -> bool:
    """Whether a joiner or selector does what it is for: inside an emoji, or between letters that join."""
    before, after = value[max(0, place - 1) : place], value[place + 1 : place + 2]
    if char in "\ufe0e\ufe0f":
        return bool(before) and (
            unicodedata.category(before) in ("So", "Sm", "Sk") or before in "#*0123456789"
        )
    if char in _JOINERS:
        emoji = char == "\u200d" and _is_emoji(before) and _is_emoji(after)
        return emoji or (_joins(before) and _joins(after))
    return False


def _is_emoji(char: str) -> bool:
    return bool(char) and (unicodedata.category(char) in ("So", "Sk") or char == "\ufe0f" or char in "♀♂")


def _joins(char: str) -> bool:
    """Letters and marks of the scripts from Arabic to Sinhala, and of South-East Asia."""
    return bool(char) and (0x0600 <= ord(char) <= 0x109F or 0x1780 <= ord(char) <= 0x18AF)


def no_degeneration(options: NoDegeneration, text: Text) -> Iterator[Breach]:
    for start, end in blank_runs(text.value, options.whitespace_chars):
        message = f"{end - start} white-space characters in a row at {text.place(start)}"
        yield at(text, "endless_whitespace", message, start, end)
    for loop in loops(text.value, options.unit, options.repeats, options.loop_chars):
        piece = text.value[loop.start : loop.start + min(loop.unit, 40)]
        message = f"{piece!r}... ({loop.unit} characters) {loop.repeats} times in a row"
        yield at(text, "loop", f"{message} at {text.place(loop.start)}", loop.start, loop.end)
