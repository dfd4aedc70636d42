from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from armgate.cli.app import main

ROOT = Path(__file__).resolve().parents[2]
BROKEN = """\
schema: armgate/contract/v1
id: broken
says: Exactly READY.
clauses: [exact: {text: READY}]
examples:
  pass: ["READY\\x1b[31m"]
  fail: [{text: ready, violates: [exact]}]
"""


def _run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["armgate", "contracts", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


def _workspace(tmp_path: Path) -> Path:
    for folder in ("campaigns", "contracts"):
        (tmp_path / folder).mkdir()
    (tmp_path / "contracts" / "broken.yaml").write_text(BROKEN, encoding="utf-8")
    return tmp_path


def test_every_shipped_contract_holds_its_examples(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(monkeypatch, "test", "--workspace", ROOT, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert {entry["id"] for entry in said} == {path.stem for path in (ROOT / "contracts").glob("*.yaml")}
    assert all(entry["holds"] and entry["examples"] >= 2 for entry in said)


def test_a_broken_example_ends_in_one_and_says_which(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(monkeypatch, "test", "--workspace", _workspace(tmp_path)) == 1
    out = capsys.readouterr().out
    assert "broken.yaml: pass example 1: violates exact:extra_text; expected nothing" in out
    assert "\x1b[31m" not in out
    assert _run(monkeypatch, "test", tmp_path / "contracts" / "broken.yaml", "--json") == 1
    (entry,) = json.loads(capsys.readouterr().out)
    assert entry["broken"][0]["violations"][0]["clause"] == "exact"


def test_contracts_are_listed_with_what_they_promise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(monkeypatch, "list", "--workspace", _workspace(tmp_path), "--json") == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert (entry["id"], entry["clauses"]) == ("broken", [{"exact": {"text": "READY"}}])
    assert _run(monkeypatch, "list", "--workspace", tmp_path) == 0
    assert "Exactly READY." in capsys.readouterr().out


def test_an_invalid_file_ends_in_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _workspace(tmp_path) / "contracts" / "broken.yaml"
    path.write_text(BROKEN.replace("exact:", "exakt:"), encoding="utf-8")
    assert _run(monkeypatch, "test", "--workspace", tmp_path) == 2
    assert "broken.yaml:4:" in capsys.readouterr().err
