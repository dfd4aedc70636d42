"""Options of clauses about what must not be in an answer: leaked reasoning, odd characters, loops."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from armgate.model.clauses.base import ChannelOptions
from armgate.model.clauses.markers import REASONING_FAMILIES, Marker, MarkerFamily


class NoReasoningLeak(ChannelOptions):
    """No marker of any known family in the channel, judged on its joined text.

    `allow_tag_words` is for probes that ask about the tags themselves: a marker that is only mentioned
    passes, a block at the start of the answer or a closing marker on a line of its own does not.
    """

    families: tuple[str, ...] | None = None
    """Known families to look for; all by default."""
    extra: tuple[MarkerFamily, ...] = ()
    allow_tag_words: bool = False
    empty_block: Literal["refused", "allowed"] = "refused"

    @model_validator(mode="after")
    def _names_known_families(self) -> NoReasoningLeak:
        known = [family.family for family in REASONING_FAMILIES]
        for name in self.families or ():
            if name not in known:
                raise ValueError(f"unknown family {name!r}; known: {', '.join(known)}")
        return self


class NoSpecialTokens(ChannelOptions):
    """No control token of a chat format (`<|im_end|>`, `<|eot_id|>`, `[INST]`, ...) in the channel."""

    extra: tuple[Marker, ...] = ()


class NoReplacementCharacters(ChannelOptions):
    """No U+FFFD: somewhere bytes that were no UTF-8 were decoded all the same."""


CodePoint = Annotated[str, StringConstraints(pattern=r"^U\+[0-9A-F]{4,6}$")]


class NoInvisibleCharacters(ChannelOptions):
    """No character that a reader cannot see: format and control characters, tags, fillers, odd spaces.

    Tab, LF and CR are seen. Joiners and selectors inside an emoji or between letters of a script that
    needs them pass. `odd_spaces`: no-break, ideographic and the other spaces that are not U+0020.
    """

    odd_spaces: Literal["refused", "allowed"] = "refused"
    allow: tuple[CodePoint, ...] = ()


class NoDegeneration(ChannelOptions):
    """No loop and no endless white space.

    A loop: a piece of at most `unit` characters, at least `repeats` times in a row, `loop_chars` or more
    characters in all. Endless white space: a run of more than `whitespace_chars` white-space characters.
    """

    unit: Annotated[int, Field(ge=1, le=2000)] = 400
    repeats: Annotated[int, Field(ge=3)] = 6
    loop_chars: Annotated[int, Field(ge=64)] = 200
    whitespace_chars: Annotated[int, Field(ge=32)] = 120
