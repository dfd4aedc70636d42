"""Armgate's own environments: one as a user has it, one with the tools of its tests."""

from __future__ import annotations

import json
import tomllib

from prepare.environment import Environment
from prepare.machine import GB, Needs
from prepare.places import Places
from prepare.step import Step


def armgate_environment(places: Places) -> Environment:
    return _environment(places, "venv", "requirements.lock")


def dev_environment(places: Places) -> Environment:
    return _environment(places, "dev", "requirements-dev.lock")


def armgate_step(places: Places) -> Step:
    return _step(places, armgate_environment(places), "armgate: itself and what it needs in .armgate/venv")


def dev_step(places: Places) -> Step:
    return _step(places, dev_environment(places), "tests: armgate and its test tools in .armgate/dev")


def _environment(places: Places, name: str, lock: str) -> Environment:
    inputs = (places.root / lock,)
    return Environment(places.made / name, inputs, places.logs / f"{name}.log", installed_metadata(places))


def installed_metadata(places: Places) -> str:
    """What installing this checkout takes from pyproject.toml: no settings of linters and tests."""
    config = tomllib.loads((places.root / "pyproject.toml").read_text())
    return json.dumps([config["build-system"], config["project"], config["tool"]["hatch"]], sort_keys=True)


def _step(places: Places, environment: Environment, title: str) -> Step:
    lock = environment.inputs[0]

    def fill(made: Environment) -> None:
        made.install("--require-hashes", "-r", lock)
        made.install("--no-build-isolation", "-e", places.root)

    return Step(
        title=f"{title} (0.5 GB)",
        usually="half a minute",
        needs=Needs(places.made, disk=1 * GB, venv=True, sample=lock),
        is_done=environment.is_whole,
        do=lambda: environment.make(fill),
    )
