from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from armgate.cli.app import main

ROOT = Path(__file__).resolve().parents[2]
READY = ROOT / "contracts" / "ready.yaml"


def _run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["armgate", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


def _exchange(tmp_path: Path, content: str | None, **changes: Any) -> Path:
    body = {"choices": [{"index": 0, "message": {"content": content}, "finish_reason": "stop"}]}
    document = {
        "request": {"max_tokens": 16},
        "response": {"status": 200, "headers": {}, "body": json.dumps(body)},
        "fate": "complete",
        **changes,
    }
    path = tmp_path / "exchange.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("content", "changes", "outcome", "code"),
    [
        ("READY", {}, "passed", 0),
        ("READY.", {}, "failed", 1),
        ("READY", {"fate": "dropped"}, "void", 3),
        ("READY", {"response": None, "fate": "refused"}, "void", 3),
    ],
)
def test_the_exit_code_is_the_outcome(
    content: str, changes: dict[str, Any], outcome: str, code: int, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    path = _exchange(tmp_path, content, **changes)
    assert _run(monkeypatch, "check", "--contract", READY, "--exchange", path, "--json") == code
    out, err = capsys.readouterr()
    said = json.loads(out)
    assert err == ""
    assert said["outcome"] == outcome
    assert bool(said["cause"]) == (outcome in ("void", "failed"))
    assert said["violations"] == [] if outcome != "failed" else said["violations"][0]["clause"] == "exact"


def test_violations_and_the_response_are_printed_as_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _exchange(tmp_path, "READY \ud83d")
    assert _run(monkeypatch, "check", "--contract", READY, "--exchange", path, "--json") == 1
    said = json.loads(capsys.readouterr().out)
    (violation,) = said["violations"]
    assert (violation["clause"], violation["channel"], violation["span"]) == ("exact", "content", [5, 9])
    assert violation["message"]
    assert said["response"]["content"] == "READY \ud83d"
    assert said["response"]["reasoning"] is None
    assert said["tolerances"]["exact"] == [{"text": "READY", "whitespace": "bytes"}]


def test_figures_that_overflow_do_not_break_the_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    body = (
        '{"choices": [{"index": 0, "message": {"content": "READY"}, "finish_reason": "stop"}], "odd": 1e999}'
    )
    path = _exchange(tmp_path, None, response={"status": 200, "headers": {}, "body": body})
    assert _run(monkeypatch, "check", "--contract", READY, "--exchange", path, "--json") in (0, 3)
    json.loads(capsys.readouterr().out, parse_constant=pytest.fail)


def test_a_bare_text_is_judged_byte_for_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "answer.txt"
    for data, code in ((b"READY", 0), (b"READY\r\n", 1), (b"\xef\xbb\xbfREADY", 1)):
        path.write_bytes(data)
        assert _run(monkeypatch, "check", "--contract", READY, "--text", path, "--json") == code
        said = json.loads(capsys.readouterr().out)
        assert said["response"]["content"] == data.decode()
        assert said["not_applicable"] == ["finish"]


def test_a_contract_is_found_by_id_in_the_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "answer.txt"
    path.write_bytes(b"READY")
    assert _run(monkeypatch, "check", "--contract", "ready", "--workspace", ROOT, "--text", path) == 0
    assert _run(monkeypatch, "check", "--contract", "redy", "--workspace", ROOT, "--text", path) == 2
    assert "did you mean 'ready'" in capsys.readouterr().err


def test_text_of_a_model_is_inert_in_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _exchange(tmp_path, "READY \x1b]0;owned\x07 [red]\u202e")
    assert _run(monkeypatch, "check", "--contract", READY, "--exchange", path) == 1
    out = capsys.readouterr().out
    assert "\x1b]" not in out
    assert "\x07" not in out
    assert "\u202e" not in out
    assert "[red]" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--contract", READY], "either --exchange FILE or --text FILE"),
        (["--contract", READY, "--text", "a", "--exchange", "b"], "either --exchange FILE or --text FILE"),
        (["--contract", "absent.yaml", "--text", "a"], "cannot be read"),
        (["--contract", READY, "--exchange", "absent.json"], "absent.json: cannot be read"),
        (["--text", "a"], "--contract"),
    ],
)
def test_wrong_usage_ends_in_two_and_writes_nothing(
    arguments: list[object], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert _run(monkeypatch, "check", *arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err
    assert list(tmp_path.iterdir()) == []


def test_a_broken_exchange_file_is_told_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "exchange.json"
    path.write_text('{"request": {},\n "response": null,\n "fate": "compleet"}', encoding="utf-8")
    assert _run(monkeypatch, "check", "--contract", READY, "--exchange", path) == 2
    assert "exchange.json:3:" in capsys.readouterr().err
