"""Clauses about Markdown: no fence, exactly one fenced block, plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from armgate.judging.clauses.breach import Breach, at
from armgate.judging.fences import Block
from armgate.judging.markup import markup_of
from armgate.judging.text import Text
from armgate.model.clauses.base import compiled
from armgate.model.clauses.text import NoFence, OneFence, PlainText

ASCII_BLANK = " \t\n\r"
_FENCE_LINE = compiled(r"(?m)^ {0,3}(?:`{3,}|~{3,})")
_BACKTICK_LINE = re.compile(r"^ {0,3}`{3,}[^\r\n]{0,40}", re.MULTILINE)


def no_fence(options: NoFence, text: Text) -> Iterator[Breach]:
    fences = text.fences
    if fences.too_large:
        for line in _FENCE_LINE.finditer(text.data):
            yield Breach(
                "fence_line", "a line begins with a fence", text.byte_span(*line.span()), text.channel
            )
        return
    for block in fences.blocks:
        kind, says = _kind_of(block, text)
        yield at(text, kind, f"{says} at {text.place(block.outer[0])}", *block.outer)
    if "```" in text.value:
        for line in _BACKTICK_LINE.finditer(text.value):
            if not any(block.outer[0] <= line.start() < block.outer[1] for block in fences.blocks):
                message = f"a line begins like a fence at {text.place(line.start())}: {line[0]!r}"
                yield at(text, "fence_line", message, *line.span())


def _kind_of(block: Block, text: Text) -> tuple[str, str]:
    if block.closed:
        return "fence", f"a fenced block ({block.fence}{block.info})"
    if not text.value[block.inner[0] : block.inner[1]].strip(ASCII_BLANK):
        return "stray_fence", "a stray fence"
    return "unclosed_fence", "a fence that is never closed"


def one_fence(options: OneFence, text: Text) -> Iterator[Breach]:
    fences = text.fences
    if fences.too_large:
        yield Breach("too_large", "too long to be read as Markdown", text.all, text.channel)
        return
    if not fences.blocks:
        yield Breach("no_block", "there is no fenced block", text.all, text.channel)
        return
    if len(fences.blocks) > 1:
        yield _several(fences.blocks, text)
    for block in fences.blocks:
        if not block.closed:
            kind, says = _kind_of(block, text)
            yield at(text, kind, f"{says} at {text.place(block.outer[0])}", *block.outer)
        yield from _form(options, block, text)
    if options.outside != "prose":
        yield from _outside(options, fences.blocks, text)


def _several(blocks: tuple[Block, ...], text: Text) -> Breach:
    starts = ", ".join(text.place(block.outer[0]).partition(",")[0] for block in blocks[:5])
    more = ", ..." if len(blocks) > 5 else ""
    message = f"{len(blocks)} fenced blocks, expected one ({starts}{more})"
    return at(text, "several_blocks", message, blocks[1].outer[0], blocks[-1].outer[1])


def _form(options: OneFence, block: Block, text: Text) -> Iterator[Breach]:
    if block.nested:
        yield at(text, "nested_block", "the block stands in a list item or a quotation", *block.outer)
    if options.info is not None and block.word not in options.info:
        allowed = ", ".join(repr(word) for word in options.info)
        message = f"the info string is {block.info!r}, allowed are {allowed}"
        yield at(text, "info", message, block.outer[0], block.inner[0])
    inner = text.value[block.inner[0] : block.inner[1]]
    if options.empty == "refused" and block.closed and not inner.strip(ASCII_BLANK):
        yield at(text, "empty_block", "the block is empty", *block.outer)


def _outside(options: OneFence, blocks: tuple[Block, ...], text: Text) -> Iterator[Breach]:
    """Text before, between and behind the blocks that is not allowed there."""
    edges = [0, *(edge for block in blocks for edge in block.outer), len(text.value)]
    places = ["before", *["between"] * (len(blocks) - 1), "after"]
    for where, start, end in zip(places, edges[::2], edges[1::2], strict=True):
        piece = text.value[start:end]
        if piece if options.outside == "nothing" else piece.strip(ASCII_BLANK):
            shown = piece.strip(ASCII_BLANK)
            says = "blank text" if not shown else repr(shown if len(shown) <= 60 else shown[:57] + "...")
            at_block = {"before": "before the block", "after": "after the block", "between": "between blocks"}
            yield at(text, f"text_{where}", f"text {at_block[where]}: {says}", start, end)


def plain_text(options: PlainText, text: Text) -> Iterator[Breach]:
    markup = markup_of(text.value)
    if markup is None:
        yield Breach("too_large", "too long to be read as Markdown", text.all, text.channel)
        return
    for found in markup:
        if found.kind not in options.allow:
            yield at(
                text, found.kind, f"{found.kind.replace('_', ' ')} in plain text", found.start, found.end
            )
