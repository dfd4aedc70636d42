"""Prompt templates: Jinja2 in its sandbox, undefined names are errors, nothing is trimmed."""

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
        keep_trailing_newline=True,
    )
    try:
        rendered = environment.from_string(text).render(dict(variables))
    except (TemplateError, OverflowError, TypeError, ValueError, ZeroDivisionError) as error:
        line = getattr(error, "lineno", None)
        raise DeclarationError([Problem(source, line, None, "", f"template: {error}")]) from None
    if len(rendered) > MAX_RENDERED_CHARS:
        raise DeclarationError([Problem(source, None, None, "", "template renders more than 16 MB")])
    return rendered
