"""A channel's text under judgement: positions as bytes, lines and columns, and its parses, each made once."""

from __future__ import annotations

import re
from functools import cached_property
from itertools import accumulate

from armgate.judging.fences import Fences, read_fences, verbatim
from armgate.judging.json_text import JsonRead, read_json
from armgate.judging.python_source import PythonRead, read_python

_LINE_END = re.compile(r"\r\n|\r|\n")
_BLOCK = 4096


def count_line_ends(text: str, start: int, end: int) -> int:
    """Line ends (CRLF, CR, LF) that begin at characters `start` to `end`."""
    return text.count("\n", start, end) + text.count("\r", start, end) - text.count("\r\n", start, end)


class Text:
    """One text. `base` is the byte offset of its start within the channel that spans refer to.

    `whole` is set where the text's positions do not map onto the channel (an indented block that was
    dedented): every span is then that one.
    """

    def __init__(self, channel: str, value: str, base: int = 0, whole: tuple[int, int] | None = None) -> None:
        self.channel = channel
        self.value = value
        self._base = base
        self._whole = whole
        self._counted = (0, 1, 0)

    @cached_property
    def data(self) -> bytes:
        """UTF-8 with lone surrogates kept: what spans count in."""
        return self.value.encode("utf-8", "surrogatepass")

    @cached_property
    def _is_ascii(self) -> bool:
        return self.value.isascii()

    @cached_property
    def _blocks(self) -> list[int]:
        """Byte offset of every 4096th character, so that many positions in a long text stay linear."""
        pieces = (self.value[at : at + _BLOCK] for at in range(0, len(self.value), _BLOCK))
        return list(accumulate((len(p.encode("utf-8", "surrogatepass")) for p in pieces), initial=0))

    def byte_at(self, char: int) -> int:
        """Byte offset, within this text, of the character at `char`."""
        if self._is_ascii:
            return char
        block = char // _BLOCK
        start = block * _BLOCK
        return self._blocks[block] + len(self.value[start:char].encode("utf-8", "surrogatepass"))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The channel's byte span of characters `start` to `end` of this text."""
        return self.byte_span(self.byte_at(start), self.byte_at(end))

    def byte_span(self, start: int, end: int) -> tuple[int, int]:
        """The channel's byte span of bytes `start` to `end` of this text."""
        return self._whole or (self._base + start, self._base + end)

    @property
    def all(self) -> tuple[int, int]:
        return self.byte_span(0, len(self.data))

    @cached_property
    def line_starts(self) -> list[int]:
        """Character offsets at which lines start; CRLF, CR and LF end a line."""
        return [0, *(ending.end() for ending in _LINE_END.finditer(self.value))]

    def place(self, char: int) -> str:
        """`line L, column C` of a character, both from 1."""
        value, (at, line, start) = self.value, self._counted
        # A place between CR and LF belongs to the line that both of them end.
        to = char - 1 if char and value[char - 1 : char + 1] == "\r\n" else char
        if to < at:
            at, line, start = 0, 1, 0
        line += count_line_ends(value, at, to)
        start = max(start, value.rfind("\n", at, to) + 1, value.rfind("\r", at, to) + 1)
        # Breaches come in the order of the text, so each place is counted from the one before.
        self._counted = (to, line, start)
        return f"line {line}, column {char - start + 1}"

    @cached_property
    def fences(self) -> Fences:
        return read_fences(self.value)

    @cached_property
    def json(self) -> JsonRead:
        return read_json(self.value)

    @cached_property
    def python(self) -> PythonRead:
        return read_python(self.value)

    @cached_property
    def block(self) -> Text | None:
        """The text of the only fenced block, `None` where there is not exactly one closed block."""
        blocks = self.fences.blocks
        if self.fences.too_large or len(blocks) != 1 or not blocks[0].closed:
            return None
        code, (start, end) = verbatim(self.value, blocks[0])
        is_slice = end - start == len(code.encode("utf-8", "surrogatepass"))
        start, end = self.byte_span(start, end)
        return Text(self.channel, code, start, self._whole if is_slice else (start, end))

    @cached_property
    def prose(self) -> str:
        """The text without its fenced blocks."""
        kept, at = [], 0
        for block in self.fences.blocks:
            kept.append(self.value[at : block.outer[0]])
            at = block.outer[1]
        return "".join((*kept, self.value[at:]))
