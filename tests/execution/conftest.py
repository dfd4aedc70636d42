"""Executors of each tier for the tests, and what the machine must have for them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from armgate.errors import SandboxUnavailable
from armgate.execution.container import connect
from armgate.execution.executor import Executor
from armgate.execution.harness import Harness, load_harness, sandbox_folder
from armgate.execution.image import build_image
from armgate.execution.tiers import open_executor

ROOT = Path(__file__).resolve().parents[2]
OWN_ENGINE = ROOT / ".armgate" / "docker" / "docker.sock"
"""Where `scripts/docker-engine start` puts its socket."""


@pytest.fixture(scope="session")
def harness() -> Harness:
    return load_harness(sandbox_folder())


@pytest.fixture(scope="session")
def docker_engine(unavailable: Callable[[str, str], NoReturn]) -> str:
    """The id of the image that `armgate sandbox build` makes, on a real engine."""
    if "DOCKER_HOST" not in os.environ and OWN_ENGINE.exists():
        os.environ["DOCKER_HOST"] = f"unix://{OWN_ENGINE}"
    try:
        client = connect()
    except SandboxUnavailable as error:
        unavailable("docker", str(error))
    with contextlib.closing(client):
        return build_image(client, sandbox_folder())


@pytest.fixture(scope="session", params=["process", "namespaces", "container"])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    """An executor of each tier in turn."""
    if request.param == "container":
        request.getfixturevalue("docker_engine")
    try:
        opened = open_executor(request.param, workers=2)
    except SandboxUnavailable as error:
        request.getfixturevalue("unavailable")("sandbox", str(error))
    yield opened
    opened.close()
