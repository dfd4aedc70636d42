"""CONTRIBUTING.md: its picture of the layers is the rule that import-linter checks."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def drawn_layers() -> list[set[str]]:
    """Rows of the picture, top down; a row of several packages has `|` between them."""
    picture = re.search(r"^```\n(cli .*?)^```", (ROOT / "CONTRIBUTING.md").read_text(), re.M | re.S)
    assert picture is not None
    rows = [line for line in picture.group(1).splitlines() if line.strip() != "|"]
    return [{part.split()[0] for part in row.split("|")} for row in rows]


def test_the_picture_of_the_layers_is_the_checked_rule() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = config["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    checked = [{name.strip().removeprefix("armgate.") for name in row.split("|")} for row in layers]
    assert drawn_layers() == checked


def test_every_package_has_a_place_in_it() -> None:
    packages = {path.parent.name for path in (ROOT / "src" / "armgate").glob("*/__init__.py")}
    assert packages <= set().union(*drawn_layers())
