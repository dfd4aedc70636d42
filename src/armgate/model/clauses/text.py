"""Options of clauses about the words of an answer: exact text, contents, patterns, lengths, language."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

import re2
from pydantic import Field, StringConstraints, model_validator

from armgate.model.clauses.base import ChannelOptions, Pattern, Range, compiled

NonEmpty = Annotated[str, Field(min_length=1)]


class Exact(ChannelOptions):
    """The channel is one of the given texts, compared as strings and never as numbers.

    `whitespace: bytes` compares as served. `trim_ascii_ws` is a tolerance: space, tab, LF and CR at both
    ends of the answer are left out of the comparison, and nothing else is.
    """

    text: str | None = None
    any_of: tuple[str, ...] = ()
    whitespace: Literal["bytes", "trim_ascii_ws"] = "bytes"

    @model_validator(mode="after")
    def _says_what(self) -> Exact:
        if (self.text is None) == (not self.any_of):
            raise ValueError("give text, or any_of with at least one text")
        return self

    @property
    def texts(self) -> tuple[str, ...]:
        return self.any_of if self.text is None else (self.text,)


class Contains(ChannelOptions):
    """Each text occurs, `times` often. `boundary: token`: not inside a longer run of letters or digits."""

    texts: tuple[NonEmpty, ...] = Field(min_length=1)
    boundary: Literal["none", "token"] = "none"
    case: Literal["exact", "ignore_ascii"] = "exact"
    times: Range | None = None


class NotContains(ChannelOptions):
    """None of the texts occurs."""

    texts: tuple[NonEmpty, ...] = Field(min_length=1)
    boundary: Literal["none", "token"] = "none"
    case: Literal["exact", "ignore_ascii"] = "exact"


class Regex(ChannelOptions):
    """An RE2 pattern. `full`: the whole channel matches; `search`: it matches somewhere; `never`: nowhere.

    With `only`, every match of a search is one of the given texts; with `times`, there are that many.
    """

    pattern: Pattern
    match: Literal["full", "search", "never"] = "full"
    only: tuple[str, ...] | None = None
    times: Range | None = None

    @model_validator(mode="after")
    def _counts_matches_of_a_search(self) -> Regex:
        if self.match != "search" and (self.only is not None or self.times is not None):
            raise ValueError("only and times belong to match: search")
        return self

    @cached_property
    def compiled(self) -> re2._Regexp:
        return compiled(self.pattern)


class Length(ChannelOptions):
    """Lengths of the channel.

    Bytes: UTF-8. Characters: Unicode code points. Lines: pieces between line ends, a final line end opens
    no further line. Words: runs of what is not white space. Sentences: pieces ended by `.`, `!`, `?` or
    their CJK forms before white space or the end, with a rest that ends otherwise counted as one.
    """

    bytes_: Range | None = Field(None, alias="bytes")
    characters: Range | None = None
    lines: Range | None = None
    words: Range | None = None
    sentences: Range | None = None

    @model_validator(mode="after")
    def _measures_something(self) -> Length:
        if not self.model_fields_set - {"channel"}:
            raise ValueError("give at least one of bytes, characters, lines, words, sentences")
        return self


ScriptName = Annotated[str, StringConstraints(pattern=r"^[A-Z][a-z]+(_[A-Z][a-z]+)*$")]


class Script(ChannelOptions):
    """Shares of Unicode scripts among the letters of the channel (letters: general category L).

    `mostly` holds at least `min_share` of the letters; `forbid` names scripts of which none occurs.
    Digits, signs and white space belong to no script here. `ignore_code` leaves fenced blocks out.
    """

    mostly: tuple[ScriptName, ...] = ()
    min_share: Annotated[float, Field(gt=0, le=1)] = 0.9
    forbid: tuple[ScriptName, ...] = ()
    ignore_code: bool = False

    @model_validator(mode="after")
    def _names_known_scripts(self) -> Script:
        if not self.mostly and not self.forbid:
            raise ValueError("give mostly, forbid or both")
        for name in (*self.mostly, *self.forbid):
            if name not in SCRIPTS:
                raise ValueError(f"unknown script {name!r}; known: {', '.join(sorted(SCRIPTS))}")
        return self


class Language(ChannelOptions):
    """The language of the prose, told by its script and by its most common function words.

    Meant for answers of some sentences; fewer than `min_words` words cannot be told and fail as such.
    """

    is_: Literal["en", "de", "fr", "es", "it", "pt", "nl", "ko", "ja", "zh", "ru", "ar", "hi", "th", "el"] = (
        Field(alias="is")
    )
    min_words: Annotated[int, Field(ge=1)] = 5
    ignore_code: bool = False


class PlainText(ChannelOptions):
    """No Markdown: the channel reads as paragraphs of text only. `allow` names kinds that may occur."""

    allow: tuple[
        Literal[
            "heading",
            "table",
            "list",
            "quote",
            "code_block",
            "fence",
            "rule",
            "html",
            "emphasis",
            "strong",
            "inline_code",
            "link",
            "image",
        ],
        ...,
    ] = ()


class NoFence(ChannelOptions):
    """No Markdown code fence, closed, unclosed or stray, and no line that begins like one."""


class OneFence(ChannelOptions):
    """Exactly one fenced code block (CommonMark), closed.

    `info`: first words that its info string may have, as written (`""` is a bare fence); any by default.
    `outside: nothing` allows no byte around the block but the line end of its closing fence; `blank`
    allows space, tab, LF and CR; `prose` allows text.
    """

    info: tuple[str, ...] | None = None
    outside: Literal["nothing", "blank", "prose"] = "nothing"
    empty: Literal["refused", "allowed"] = "refused"


SCRIPTS = frozenset(
    (
        "Arabic", "Armenian", "Bengali", "Bopomofo", "Cherokee", "Cyrillic", "Devanagari", "Ethiopic",
        "Georgian", "Greek", "Gujarati", "Gurmukhi", "Han", "Hangul", "Hebrew", "Hiragana", "Kannada",
        "Katakana", "Khmer", "Lao", "Latin", "Malayalam", "Mongolian", "Myanmar", "Oriya", "Sinhala",
        "Tamil", "Telugu", "Thai", "Tibetan",
    )
)  # fmt: skip
"""Names that RE2 knows and that a contract may ask for."""
