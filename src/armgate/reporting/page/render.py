"""Draws pages with the templates of `templates/report/`: static, self-contained, and without any script."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from armgate.errors import RecordError
from armgate.model.base import Json
from armgate.reporting.page.marking import drawn


def page_bytes(template: str, view: Mapping[str, Json], styles: str = "") -> bytes:
    """One page. `styles` are rules of this page alone; the policy allows just these and no script."""
    environment = _environment()
    style = environment.loader.get_source(environment, "style.css")[0] + styles  # type: ignore[union-attr]
    sheet = Markup(style)  # noqa: S704 - our own file, and rules made of numbers
    text = environment.get_template(template).render(view, style=sheet, policy=_policy(style))
    return text.encode("utf-8", "backslashreplace")


def _policy(style: str) -> str:
    """Nothing is loaded, run or sent; the one style sheet is known by its digest."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(templates_folder()),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["drawn"] = drawn
    return environment


def templates_folder() -> Path:
    """The installed page templates; in a checkout those at its root, never a workspace's own."""
    package = Path(__file__).resolve().parents[2]
    for folder in (package / "workspace" / "templates", package.parents[1] / "templates"):
        if (folder / "report" / "report.html.jinja").is_file():
            return folder / "report"
    raise RecordError("this installation lacks its page templates: reinstall armgate")
