"""Hostile text made visible and inert for tables, spreadsheets, XML and Markdown.

The sets of characters are written out here: Python's own tables grow from version to version, and a
report has to be the same bytes on each.
"""

from __future__ import annotations

import re

_UNSEEN = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # controls but tab, newline and carriage return
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, joiners, fillers
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"  # zero width, bidi, selectors
    "\ufff0-\uffff\ud800-\udfff\ue000-\uf8ff"  # specials, lone surrogates, private use
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff"  # formats, tags, private use
)
UNSEEN = re.compile(f"[{_UNSEEN}]")
"""Characters that a reader cannot see or that change how others are shown."""

_LINE_ENDS = re.compile(r"[\t\n\r]")
_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20|%]")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#+!|~@&]|:(?=//)|(?<=[Ww]{3})\.)")


def code_point(char: str) -> str:
    """A name for a character that cannot be shown: `U+202E`; the byte for what was not UTF-8."""
    number = ord(char)
    if 0xDC80 <= number <= 0xDCFF:
        return f"byte {number - 0xDC00:02X}"
    return f"U+{number:04X}"


def visible(text: str) -> str:
    """`text` with every unseen character written as its code point; line ends and tabs stay."""
    return UNSEEN.sub(lambda match: f"<{code_point(match[0])}>", text)


def one_line(text: str) -> str:
    """`text` as a single visible line."""
    return _LINE_ENDS.sub(lambda match: {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[match[0]], visible(text))


def cell(text: str) -> str:
    """A spreadsheet cell that stays text: what could begin a formula gets an apostrophe before it."""
    line = one_line(text)
    return f"'{line}" if _FORMULA.match(line) else line


def markdown(text: str) -> str:
    """A run of Markdown that renders as exactly this text: no link, mention, tag, table or emphasis."""
    return _MARKDOWN.sub(lambda match: f"&#{ord(match[1])};", one_line(text))
