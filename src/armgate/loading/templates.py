"""Prompt templates: Jinja2 in its sandbox; undefined names are errors.

As everywhere in Jinja, the one newline that ends the file is no part of the text; nothing else is trimmed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from armgate.errors import DeclarationError, Problem
from armgate.model.base import Json

MAX_RENDERED_CHARS = 16_000_000


def render(text: str, variables: Mapping[str, Json], source: Path | None) -> str:
    """The rendered text, or a DeclarationError with the template's line."""
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined,
        autoescape=False,
    )
    try:
        rendered = environment.from_string(text).render(dict(variables))
    except (TemplateError, OverflowError, TypeError, ValueError, ZeroDivisionError) as error:
        line = getattr(error, "lineno", None)
        raise DeclarationError([Problem(source, line, None, "", f"template: {error}")]) from None
    if len(rendered) > MAX_RENDERED_CHARS:
        raise DeclarationError([Problem(source, None, None, "", "template renders more than 16 MB")])
    return rendered
