"""axe-core is taken only from the package that is pinned."""

from __future__ import annotations

from pathlib import Path

import pytest

from prepare import axe
from prepare.places import Places


def test_another_package_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other.tgz"
    other.write_bytes(b"not the package")
    monkeypatch.setattr(axe, "URL", other.as_uri())
    places = Places(tmp_path)
    step = axe.axe_step(places)
    assert not step.is_done()
    step.do()
    assert not axe.axe_script(places).exists()


def test_a_script_that_was_changed_is_fetched_again(tmp_path: Path) -> None:
    places = Places(tmp_path)
    axe.axe_script(places).parent.mkdir(parents=True)
    axe.axe_script(places).write_bytes(b"changed")
    assert not axe.axe_step(places).is_done()
