from __future__ import annotations

import ast
import dataclasses
import inspect
import io
import json.decoder
import textwrap
import tokenize
import typing
import warnings
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armgate.judging.python_source import read_python


def test_warnings_of_the_parser_decide_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_python('"\\d"').tree is not None


def test_comments_are_found_outside_strings_only() -> None:
    text = "a = '#'  # one\nb = f'{a} # no'  # 둘\n# three\n'''\n# no\n'''\n"
    data = text.encode()
    found = [data[start:end].decode() for start, end in read_python(text).comments]
    assert found == ["# one", "# 둘", "# three"]


def test_spans_of_nodes_are_bytes_of_the_source() -> None:
    text = "x = '정답'\r\ndef f():\r\n    return '정'\r\n"
    read = read_python(text)
    assert read.tree is not None
    start, end = read.byte_span(read.tree.body[1])
    assert text.encode()[start:end].decode() == "def f():\r\n    return '정'"


def test_hostile_sources_end_in_a_flaw() -> None:
    for text in (
        "(" * 10_000,
        "-" * 200_000 + "1",
        "a" + ".b" * 100_000,
        "x\x00",
        "\ud800",
        "lambda:" * 30_000,
    ):
        read = read_python(text)
        assert (read.tree is None) == (read.flaw is not None)


@given(st.text(alphabet="()[]{}:=,.ab1 \n\t#'\"\\f\r\u00a0정", max_size=80))
def test_the_verdict_is_that_of_the_interpreter(text: str) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
        parses = True
    except SyntaxError:
        parses = False
    read = read_python(text)
    assert (read.tree is not None) == parses
    if read.flaw is not None:
        assert 0 <= read.flaw.start <= read.flaw.end <= len(text)


@pytest.mark.parametrize("module", [json.decoder, dataclasses, inspect, textwrap, tokenize, typing], ids=str)
def test_comments_are_those_of_the_tokenizer(module: ModuleType) -> None:
    text = Path(inspect.getfile(module)).read_text(encoding="utf-8")
    data = text.encode()
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    wanted = [token.string for token in tokens if token.type == tokenize.COMMENT]
    assert len(wanted) > 3
    assert [data[start:end].decode() for start, end in read_python(text).comments] == wanted
