"""Fixtures of the whole suite: the async backend, and what a machine may or may not have."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

import pytest

from armgate.reporting.run_folder import RunFolder

ROOT = Path(__file__).resolve().parents[1]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--regenerate", action="store_true", help="write golden files anew; the tests that do so then fail"
    )


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """`golden(path, text)` compares with the file at `path`, or writes it and fails under --regenerate."""

    def compare(path: Path, text: str) -> None:
        if request.config.getoption("--regenerate"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
            pytest.fail(f"{path} was written anew; run again without --regenerate")
        assert path.read_text("utf-8") == text, f"{path} is out of date; --regenerate writes it"

    return compare


class EngineEnvironment(NamedTuple):
    """The engine's interpreter and the folder of the model that it is booted with."""

    python: Path
    model: Path


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def _cache_of_our_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Digests that tests compute are kept out of the user's cache."""
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    yield
    if before is None:
        del os.environ["XDG_CACHE_HOME"]
    else:
        os.environ["XDG_CACHE_HOME"] = before


@pytest.fixture(scope="session")
def unavailable() -> Callable[[str, str], NoReturn]:
    """`unavailable("docker", why)` skips, or fails where `ARMGATE_REQUIRE_DOCKER=1` demands it."""

    def skip_or_fail(what: str, reason: str) -> NoReturn:
        if os.environ.get(f"ARMGATE_REQUIRE_{what.upper()}") == "1":
            pytest.fail(f"{what} is required here but not available: {reason}", pytrace=False)
        pytest.skip(f"{what} not available: {reason}")

    return skip_or_fail


@pytest.fixture(scope="session")
def engine_environment(unavailable: Callable[[str, str], NoReturn]) -> EngineEnvironment:
    """The real engine as `scripts/demo` and `scripts/test` make it."""
    missing = os.environ.get("ARMGATE_ENGINE_MISSING")
    if missing:
        unavailable("engine", missing)
    made = ROOT / ".armgate"
    found = EngineEnvironment(
        Path(os.environ.get("ARMGATE_ENGINE_PYTHON", made / "engine" / "bin" / "python")),
        Path(os.environ.get("ARMGATE_ENGINE_MODEL", made / "models" / "smollm2-135m-instruct")),
    )
    for path in found:
        if not path.exists():
            unavailable("engine", f"{path} does not exist; scripts/demo --prepare makes it")
    return found


@pytest.fixture(scope="session")
def mixed_run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A finished run with every kind of end; tests that change it work on a copy."""
    from support.finished import mixed

    return mixed(tmp_path_factory.mktemp("mixed"))


@pytest.fixture(scope="session")
def hostile_run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A finished run whose replies attack whoever reads them; tests that change it work on a copy."""
    from support.finished import hostile

    return hostile(tmp_path_factory.mktemp("hostile"))


@pytest.fixture
def mixed_copy(mixed_run: RunFolder, tmp_path: Path) -> RunFolder:
    return RunFolder(Path(shutil.copytree(mixed_run.root, tmp_path / mixed_run.root.name)))
