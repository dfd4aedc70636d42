"""The checks that `scripts/check` and `scripts/test` run, and what the tests are told of the engine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from prepare import program
from prepare.armgate import dev_environment
from prepare.engine import engine_environment
from prepare.model import model_folder
from prepare.places import Places

CHECKS = (
    ("ruff", "check"),
    ("mypy",),
    ("mypy", "scripts/prepare"),
    ("lint-imports",),
)


def run_checks(places: Places) -> list[str]:
    """Run every check, also after one failed; the failed ones."""
    return [" ".join(words) for words in CHECKS if _tool(places, words) != 0]


def run_tests(places: Places, arguments: Sequence[str], engine_missing: str | None) -> int:
    """Run pytest; `engine_missing` says why the real engine cannot be booted, if it cannot."""
    told = {"ARMGATE_ENGINE_PYTHON": str(engine_environment(places).python),
            "ARMGATE_ENGINE_MODEL": str(model_folder(places))}  # fmt: skip
    if engine_missing is not None:
        told = {"ARMGATE_ENGINE_MISSING": engine_missing}
    return _tool(places, ("pytest", *arguments), told)


def _tool(places: Places, words: Sequence[str], told: dict[str, str] | None = None) -> int:
    tools = dev_environment(places).folder / "bin"
    path = f"{tools}{os.pathsep}{os.environ.get('PATH', '')}"
    print(f"\n$ {' '.join(words)}", flush=True)
    argv: list[str | Path] = [tools / words[0], *words[1:]]
    return program.foreground(argv, places.root, {**(told or {}), "PATH": path})
