"""The browser, and the runs that it looks at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

if TYPE_CHECKING:
    from support.browser import Browser

ROOT = Path(__file__).resolve().parents[3]
Unavailable = Callable[[str, str], NoReturn]


@pytest.fixture(scope="session")
def browser(unavailable: Unavailable) -> Iterator[Browser]:
    try:
        from support.browser import chromium, missing
    except ImportError as error:
        unavailable("browser", str(error))
    why = missing()
    if why is not None:
        unavailable("browser", why)
    with chromium() as made:
        yield made


@pytest.fixture(scope="session")
def axe(unavailable: Unavailable) -> str:
    script = ROOT / ".armgate" / "axe" / "axe.min.js"
    if not script.is_file():
        unavailable("browser", "axe-core was not fetched; scripts/test fetches it")
    return script.read_text("utf-8")
