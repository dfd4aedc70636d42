"""Fenced code blocks of a text, by CommonMark (markdown-it-py), with the character offsets of each part."""

from __future__ import annotations

import dataclasses
import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

from armgate.judging import limits

_LINE_END = re.compile(r"\r\n|\r|\n")


def _parser() -> MarkdownIt:
    """Block rules only. Link reference definitions cannot hold a fence and cost quadratic time."""
    return MarkdownIt("commonmark").disable(["inline", "reference"])


_PARSER = _parser()


@dataclasses.dataclass(frozen=True, slots=True)
class Block:
    """One fenced block, as character offsets. `outer` includes its fences and the last one's line end."""

    outer: tuple[int, int]
    inner: tuple[int, int]
    """From behind the opening line to the start of the closing line (to the end where unclosed)."""
    info: str
    """The info string without white space at its ends, as CommonMark defines it."""
    code: str
    """The block's content by CommonMark: dedented, line ends as LF."""
    fence: str
    closed: bool
    nested: bool
    """Inside a list item or a quotation."""

    @property
    def word(self) -> str:
        """The first word of the info string, `""` for a bare fence."""
        return self.info.split(maxsplit=1)[0] if self.info else ""


@dataclasses.dataclass(frozen=True, slots=True)
class Fences:
    blocks: tuple[Block, ...] = ()
    too_large: bool = False


def read_fences(text: str) -> Fences:
    """All fenced blocks in order. A text beyond the limits is not parsed and says so."""
    if "```" not in text and "~~~" not in text:
        return Fences()
    if len(text) > limits.MARKDOWN_CHARS or text.count("\n") + text.count("\r") > limits.MARKDOWN_LINES:
        return Fences(too_large=True)
    starts = [0, *(ending.end() for ending in _LINE_END.finditer(text)), len(text)]
    return Fences(
        tuple(_block(token, text, starts) for token in _PARSER.parse(text) if token.type == "fence")
    )


def _block(token: Token, text: str, starts: list[int]) -> Block:
    first, behind = token.map or (0, 0)
    inside = token.content.count("\n") + (token.content[-1:] not in ("", "\n"))
    # The parser does not say whether it met a closing fence; the line that it took beyond the content does.
    closed = behind - first == inside + 2
    inner_end = starts[behind - 1] if closed else starts[behind]
    return Block(
        outer=(starts[first], starts[behind]),
        inner=(min(starts[first + 1], inner_end), inner_end),
        info=token.info.strip(),
        code=token.content,
        fence=token.markup,
        closed=closed,
        nested=token.level > 0,
    )


def extract_fenced_block(text: str) -> tuple[str, tuple[int, int]] | None:
    """The text of the only fenced block and its byte span; `None` unless there is exactly one, closed.

    The text is what stands between the fences, verbatim; of a block that is indented or nested it is the
    content as CommonMark defines it. This is the declared extractor `fenced_block`.
    """
    fences = read_fences(text)
    if fences.too_large or len(fences.blocks) != 1 or not fences.blocks[0].closed:
        return None
    return verbatim(text, fences.blocks[0])


def verbatim(text: str, block: Block) -> tuple[str, tuple[int, int]]:
    """The block's text and its byte span within `text`."""
    start, end = block.inner
    inner = text[start:end]
    begins = len(text[:start].encode("utf-8", "surrogatepass"))
    span = (begins, begins + len(inner.encode("utf-8", "surrogatepass")))
    # CommonMark reads every line end as LF and NUL as U+FFFD; the text that is run keeps its bytes.
    read = inner.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    return (inner if read == block.code else block.code), span
