"""A text read as Python source: its syntax tree, or what keeps it from being one. Nothing is run."""

from __future__ import annotations

import ast
import dataclasses
import re
import unicodedata
import warnings
from collections.abc import Iterator
from functools import cached_property

from armgate.judging import limits

"""Whose grammar judges: that of the interpreter that runs Armgate."""

_BRACKET = re.compile(r"[()\[\]{}]")
_LINE_END = re.compile(r"\r\n|\r|\n")
_COMMENT = re.compile(rb"#[^\r\n]*+")
_FORMATTED = re.compile(r"""(?i)\b(?:[ft]r?|r[ft])['"]""")
_STRING_OR_COMMENT = re.compile(
    rb"""(?:(\"{3}|'{3})(?:[^\\]|\\.)*?\1|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(#[^\r\n]*)""", re.DOTALL
)

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef


@dataclasses.dataclass(frozen=True)
class SourceFlaw:
    """Why the text is no Python source, at characters `start` to `end`."""

    kind: str
    message: str
    start: int
    end: int


class PythonRead:
    """What came of parsing: a tree, or a flaw."""

    def __init__(self, text: str, tree: ast.Module | None, flaw: SourceFlaw | None) -> None:
        self._text = text
        self.tree = tree
        self.flaw = flaw

    @cached_property
    def _line_bytes(self) -> list[int]:
        """Byte offset at which each line of the source starts, as the tree counts lines."""
        offsets, at = [0], 0
        for ending in _LINE_END.finditer(self._text):
            offsets.append(offsets[-1] + len(self._text[at : ending.end()].encode("utf-8", "surrogatepass")))
            at = ending.end()
        return offsets

    def byte_span(self, node: ast.stmt | ast.expr | ast.arg) -> tuple[int, int]:
        """Byte offsets of a node within the source."""
        last = len(self._line_bytes) - 1
        start = self._line_bytes[min(node.lineno - 1, last)] + node.col_offset
        end_line = (node.end_lineno or node.lineno) - 1
        return start, self._line_bytes[min(end_line, last)] + (node.end_col_offset or 0)

    @cached_property
    def definitions(self) -> dict[str, Definition]:
        """Functions and classes at top level by name; the last one wins, as when it runs."""
        body = self.tree.body if self.tree else []
        return {node.name: node for node in body if isinstance(node, Definition)}

    @cached_property
    def comments(self) -> tuple[tuple[int, int], ...]:
        """Byte spans of comments: `#` outside every string literal, to the end of the line."""
        if "#" not in self._text:
            return ()
        if not _FORMATTED.search(self._text):
            data = self._text.encode("utf-8", "surrogatepass")
            return tuple(found.span(2) for found in _STRING_OR_COMMENT.finditer(data) if found[2] is not None)
        # Quotes may nest in formatted strings (3.12), so only the parser knows where they end.
        masked = bytearray(self._text.encode("utf-8", "surrogatepass"))
        for node in _strings(self.tree):
            start, end = self.byte_span(node)
            masked[start:end] = b"s" * len(masked[start:end])
        return tuple(found.span() for found in _COMMENT.finditer(masked))

    def imports(self) -> Iterator[tuple[ast.Import | ast.ImportFrom, tuple[str, ...]]]:
        """Every import statement anywhere with the modules it names."""
        if "import" not in self._text:
            return
        for node in ast.walk(self.tree) if self.tree else ():
            if isinstance(node, ast.Import):
                yield node, tuple(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield node, ("." * node.level + (node.module or ""),)


def _strings(tree: ast.Module | None) -> Iterator[ast.expr]:
    """String and bytes literals; the inside of an f-string is not walked (3.11 misplaces its nodes)."""
    waiting: list[ast.AST] = [tree] if tree else []
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
        ):
            yield node
        else:
            waiting += ast.iter_child_nodes(node)


def read_python(text: str) -> PythonRead:
    """Parse `text`. Too long or too deeply nested text is not parsed; warnings of the parser are dropped."""
    flaw = _unsafe(text)
    if flaw is not None:
        return PythonRead(text, None, flaw)
    try:
        # A SyntaxWarning may be configured to raise; whether source is valid must not depend on that.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return PythonRead(text, ast.parse(text), None)
    except SyntaxError as error:
        return PythonRead(text, None, _syntax_flaw(text, error))
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        said = str(error) or type(error).__name__
        return PythonRead(text, None, SourceFlaw("not_python", f"cannot be parsed: {said}", 0, len(text)))


def _unsafe(text: str) -> SourceFlaw | None:
    """What CPython would accept, or choke on, and a contract must not: size, depth, BOM, lone surrogates."""
    if len(text) > limits.PYTHON_CHARS:
        message = f"longer than {limits.PYTHON_CHARS} characters, not parsed"
        return SourceFlaw("too_large", message, 0, len(text))
    if text.startswith("\ufeff"):
        return SourceFlaw("byte_order_mark", "begins with a byte order mark (U+FEFF)", 0, 1)
    if not text.isascii() and (lone := re.search("[\ud800-\udfff]", text)):
        message = f"a lone surrogate {_named(text[lone.start()])} is no source text"
        return SourceFlaw("not_python", message, lone.start(), lone.end())
    if text.count("(") + text.count("[") + text.count("{") <= limits.PYTHON_DEPTH:
        return None
    depth = 0
    for bracket in _BRACKET.finditer(text):
        depth = max(depth + (1 if bracket[0] in "([{" else -1), 0)
        if depth > limits.PYTHON_DEPTH:
            message = f"brackets nested deeper than {limits.PYTHON_DEPTH}, not parsed"
            return SourceFlaw("too_deep", message, bracket.start(), len(text))
    return None


def _named(char: str) -> str:
    return f"U+{ord(char):04X} {unicodedata.name(char, '(no name)')}"


def _syntax_flaw(text: str, error: SyntaxError) -> SourceFlaw:
    line, column = error.lineno or 1, max(error.offset or 1, 1)
    start = _char_at(text, line, column)
    what = f"does not parse as Python: {error.msg} at line {line}, column {column}"
    kind = "not_python"
    if start < len(text) and not text[start].isascii() and "character" in error.msg:
        kind = "odd_character"
        what = f"{_named(text[start])} at line {line}, column {column} is no Python source"
    return SourceFlaw(kind, what, start, min(start + 1, len(text)))


def _char_at(text: str, line: int, column: int) -> int:
    at = 0
    endings = _LINE_END.finditer(text)
    for _ in range(line - 1):
        ending = next(endings, None)
        if ending is None:
            return len(text)
        at = ending.end()
    return min(at + column - 1, len(text))
