"""`armgate pin`: written or told, and offline said to be offline."""

from __future__ import annotations

import json
import subprocess
import sys
import types
from pathlib import Path

import pytest

from armgate.engines.digests import tree_digest
from armgate.engines.resolving import hub_revision
from armgate.errors import InfrastructureError, UsageError


def armgate(*words: str | Path) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "armgate", *map(str, words)]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    (tmp_path / "campaigns").mkdir()
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "weights").write_bytes(b"weights")
    path = tmp_path / "campaigns" / "mine.yaml"
    path.write_text("pins:\n  target: {dir: model}   # here\n")
    return path


def test_the_file_holds_the_digest_and_keeps_its_comment(campaign: Path) -> None:
    done = armgate("pin", campaign, "--json")
    assert done.returncode == 0
    tree = tree_digest(campaign.parents[1] / "model")
    assert json.loads(done.stdout)["resolved"][0]["now"] == tree
    assert f'tree: "{tree}"' in campaign.read_text()
    assert "# here" in campaign.read_text()


def test_a_dry_run_writes_nothing(campaign: Path) -> None:
    before = campaign.read_bytes()
    done = armgate("pin", campaign, "--dry-run")
    assert "target: model, no digest -> sha256:" in done.stdout
    assert campaign.read_bytes() == before


def test_a_folders_digest_alone(campaign: Path) -> None:
    folder = campaign.parents[1] / "model"
    assert armgate("pin", "--tree", folder).stdout.strip() == tree_digest(folder)


class NotThereError(Exception):
    pass


def fake_hub(monkeypatch: pytest.MonkeyPatch, answer: str | Exception) -> None:
    class Api:
        def model_info(self, repository: str, revision: str, timeout: float) -> types.SimpleNamespace:
            if isinstance(answer, Exception):
                raise answer
            return types.SimpleNamespace(sha=answer)

    hub, errors = types.ModuleType("huggingface_hub"), types.ModuleType("huggingface_hub.errors")
    hub.HfApi = Api  # type: ignore[attr-defined]
    errors.RepositoryNotFoundError = errors.RevisionNotFoundError = NotThereError  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    monkeypatch.setitem(sys.modules, "huggingface_hub.errors", errors)


def test_the_hub_is_asked_and_its_refusals_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_hub(monkeypatch, "a" * 40)
    assert hub_revision("org/model", "main") == "a" * 40
    fake_hub(monkeypatch, NotThereError("404"))
    with pytest.raises(UsageError, match="has no org/model at 'v9'"):
        hub_revision("org/model", "v9")
    fake_hub(monkeypatch, OSError("Name or service not known"))
    with pytest.raises(InfrastructureError, match="offline, give the 40-hex commit yourself"):
        hub_revision("org/model", "main")
