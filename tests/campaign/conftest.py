"""A small workspace whose engine is the stand-in."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from armgate.engines.registry import ENGINES
from support.stand_in import SmallWorkspace, register


@pytest.fixture
def small(tmp_path: Path) -> Iterator[SmallWorkspace]:
    register()
    yield SmallWorkspace.make(tmp_path)
    del ENGINES["stand-in"]
