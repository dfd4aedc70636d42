"""Armgate's own environments: which changes of pyproject.toml make them anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from prepare.armgate import armgate_environment, dev_environment
from prepare.places import Places

PROJECT = """
[build-system]
requires = ["hatchling"]
[project]
name = "armgate"
dependencies = ["rich"]
[tool.hatch.version]
path = "src/armgate/__init__.py"
[tool.ruff]
line-length = 110
"""


@pytest.fixture
def places(tmp_path: Path) -> Places:
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    for lock in ("requirements.lock", "requirements-dev.lock"):
        (tmp_path / lock).write_text("rich==15.0.0\n")
    return Places(tmp_path)


def test_a_linter_setting_changes_nothing(places: Places) -> None:
    before = armgate_environment(places).key
    (places.root / "pyproject.toml").write_text(PROJECT.replace("110", "100"))
    assert armgate_environment(places).key == before


@pytest.mark.parametrize("word", ["hatchling", "rich", "src/armgate/__init__.py"])
def test_what_an_installation_takes_makes_it_anew(places: Places, word: str) -> None:
    before = armgate_environment(places).key
    (places.root / "pyproject.toml").write_text(PROJECT.replace(word, "other"))
    assert armgate_environment(places).key != before


def test_each_environment_follows_its_own_lock(places: Places) -> None:
    user, dev = armgate_environment(places).key, dev_environment(places).key
    (places.root / "requirements-dev.lock").write_text("rich==15.0.1\n")
    assert armgate_environment(places).key == user
    assert dev_environment(places).key != dev
