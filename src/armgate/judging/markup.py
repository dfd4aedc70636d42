"""Markdown that a text uses, by CommonMark and its tables: kinds and the lines where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from armgate.judging import limits

_LINE_END = re.compile(r"\r\n|\r|\n")
_BLOCKS = {
    "heading_open": "heading", "bullet_list_open": "list", "ordered_list_open": "list",
    "blockquote_open": "quote", "code_block": "code_block", "fence": "fence", "hr": "rule",
    "html_block": "html", "table_open": "table",
}  # fmt: skip
_INLINE = {
    "em_open": "emphasis", "strong_open": "strong", "code_inline": "inline_code", "link_open": "link",
    "image": "image", "html_inline": "html",
}  # fmt: skip
_PARSER = MarkdownIt("commonmark").enable("table")


class Markup(NamedTuple):
    """One piece of Markdown; the offsets are characters of the lines that hold it."""

    kind: str
    start: int
    end: int


def markup_of(text: str) -> list[Markup] | None:
    """Everything in `text` that Markdown would render as more than a paragraph; `None` if too long."""
    if _too_large(text):
        return None
    starts = [0, *(ending.end() for ending in _LINE_END.finditer(text)), len(text)]
    return [
        Markup(kind, starts[lines[0]], starts[min(lines[1], len(starts) - 1)])
        for token in _PARSER.parse(text)
        for kind, lines in _kinds(token)
    ]


def _too_large(text: str) -> bool:
    """Also of texts whose brackets or cells cost the parser more than their length tells."""
    return (
        len(text) > limits.INLINE_CHARS
        or text.count("\n") + text.count("\r") > limits.MARKDOWN_LINES
        or text.count("[") > limits.INLINE_BRACKETS
        or text.count("|") > limits.INLINE_PIPES
    )


def _kinds(token: Token) -> Iterator[tuple[str, list[int]]]:
    lines = token.map or [0, 0]
    if token.type in _BLOCKS:
        yield _BLOCKS[token.type], lines
    elif token.type == "inline":
        kinds = [_INLINE[child.type] for child in token.children or () if child.type in _INLINE]
        yield from ((kind, lines) for kind in dict.fromkeys(kinds))
