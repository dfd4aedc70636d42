"""Where things lie: the checkout's own files, and what is made under `.armgate/`."""

from __future__ import annotations

import dataclasses
from pathlib import Path


@dataclasses.dataclass(frozen=True)
class Places:
    """Paths of one checkout. Everything that is made lies under `made`, which git ignores."""

    root: Path

    @property
    def made(self) -> Path:
        return self.root / ".armgate"

    @property
    def logs(self) -> Path:
        return self.made / "logs"

    @property
    def engine_files(self) -> Path:
        return self.root / "scripts" / "engine"

    @property
    def models(self) -> Path:
        return self.made / "models"


def checkout() -> Places:
    """The checkout that this file lies in."""
    return Places(Path(__file__).resolve().parents[2])
