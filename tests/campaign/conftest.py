"""A small workspace whose engine is the stand-in."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from stand_in import SmallWorkspace, register

from armgate.engines.registry import ENGINES


@pytest.fixture
def small(tmp_path: Path) -> Iterator[SmallWorkspace]:
    register()
    yield SmallWorkspace.make(tmp_path)
    del ENGINES["stand-in"]
