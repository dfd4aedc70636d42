from __future__ import annotations

from pathlib import Path

import pytest

from armgate.errors import DeclarationError
from armgate.loading.contracts import contract_path, load_contract, load_shelf
from armgate.loading.workspace import Workspace

GOOD = """\
schema: armgate/contract/v1
id: ready
says: Exactly READY.
clauses:
  - finish: {reason: stop}
  - exact: {text: READY}
examples:
  pass: [READY]
  fail: [{text: ready, violates: [exact]}]
"""


def _file(tmp_path: Path, text: str, name: str = "ready") -> Path:
    folder = tmp_path / "contracts"
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_contract_is_loaded_with_its_clauses_in_order(tmp_path: Path) -> None:
    contract = load_contract(_file(tmp_path, GOOD))
    assert [clause.name for clause in contract.clauses] == ["finish", "exact"]
    assert contract.examples.passing[0].text == "READY"


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("text: READY", "txt: READY", 6, "did you mean 'text'"),
        ("- exact", "- exactly", 6, "did you mean 'exact'"),
        ("{text: READY}", "{text: READY, any_of: [a]}", 6, "give text, or any_of"),
        ("- exact: {text: READY}", "- exact:", 6, "has no options; write `exact: {}`"),
        ("{text: READY}", "{text: READY}\n    finish: {}", 6, "one clause to an item"),
        ("{reason: stop}", "{reason: 3}", 5, "finish.reason"),
        ("v1", "v2", 1, "armgate/contract/v1"),
        ("violates: [exact]", "violates: [json]", 1, "no clause of this contract"),
        ("violates: [exact]", "violates: []", 7, "names the clauses"),
        ("{text: ready,", "{text: ready, content: a,", 9, "text is a bare answer"),
        ("says: Exactly READY.", "says: a\nsays: b", 4, "duplicate key"),
        ("exact: {text: READY}", "regex: {pattern: '(?=a)'}", 6, "no lookaround"),
        ("exact: {text: READY}", "json: {schema: {type: objekt}}", 6, "not a JSON Schema"),
        ("exact: {text: READY}", "json: {schema: {$ref: 'http://x/y'}}", 6, "refer only to itself"),
        ("exact: {text: READY}", "json: {schema: {pattern: '(?!a)'}}", 6, "not a pattern of RE2"),
        ("exact: {text: READY}", "python: {defines: 'f(a,,b)'}", 6, "neither a name nor a signature"),
        ("exact: {text: READY}", "length: {words: {min: 3, max: 2}}", 6, "min 3 is above max 2"),
        ("exact: {text: READY}", "length: {}", 6, "at least one of"),
        ("exact: {text: READY}", "script: {mostly: [Hangeul]}", 6, "unknown script"),
        ("exact: {text: READY}", "no_reasoning_leak: {families: [thinkk]}", 6, "unknown family"),
        ("exact: {text: READY}", "tool_calls: {count: 2, calls: [{name: a}]}", 6, "calls names 1"),
    ],
)
def test_each_mistake_is_told_at_its_line(tmp_path: Path, old: str, new: str, line: int, says: str) -> None:
    path = _file(tmp_path, GOOD.replace(old, new))
    with pytest.raises(DeclarationError) as caught:
        load_contract(path)
    told = str(caught.value)
    assert f"{path}:{line}:" in told, told
    assert says in told, told


def test_all_mistakes_of_all_files_come_at_once(tmp_path: Path) -> None:
    _file(tmp_path, GOOD.replace("reason: stop", "reson: stop").replace("text: READY", "txt: READY"))
    _file(tmp_path, GOOD, "other")
    with pytest.raises(DeclarationError) as caught:
        load_shelf(Workspace(tmp_path))
    told = str(caught.value)
    assert "reson" in told
    assert "txt" in told
    assert "is 'ready', the file says 'other'" in told


def test_a_contract_is_named_by_path_or_by_id(tmp_path: Path) -> None:
    path = _file(tmp_path, GOOD)
    assert contract_path(str(path), Workspace(tmp_path)) == path
    assert contract_path("ready", Workspace(tmp_path)) == path
    with pytest.raises(DeclarationError, match="did you mean 'ready'"):
        contract_path("redy", Workspace(tmp_path))
