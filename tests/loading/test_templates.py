"""Prompt templates: sandboxed, strict, and trimmed of nothing but the newline that ends their file."""

from pathlib import Path

import pytest

from armgate.errors import DeclarationError
from armgate.loading.templates import render

SOURCE = Path("prompt.jinja")


@pytest.mark.parametrize(
    ("text", "rendered"),
    [("Say {{ word }}.\n", "Say yes."), ("  a \n\n", "  a \n"), ("<b>&amp;</b>", "<b>&amp;</b>")],
)
def test_render(text: str, rendered: str) -> None:
    assert render(text, {"word": "yes"}, SOURCE) == rendered


def test_an_undefined_name_is_told() -> None:
    with pytest.raises(DeclarationError, match=r"prompt\.jinja.*'wrod' is undefined"):
        render("one\n{{ wrod }}", {"word": "yes"}, SOURCE)


@pytest.mark.parametrize(
    "text",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ word.__init__.__globals__ }}",
        "{% for i in range(10 ** 9) %}x{% endfor %}",
        "{{ 1 / 0 }}",
        "{% if %}",
    ],
)
def test_a_hostile_or_broken_template_is_refused(text: str) -> None:
    with pytest.raises(DeclarationError):
        render(text, {"word": "yes"}, SOURCE)
