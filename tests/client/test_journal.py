from __future__ import annotations

from pathlib import Path

import pytest

from armgate.client.journal import Journal, read_journal
from armgate.errors import RecordError


def test_entries_come_back_in_order_over_several_openings(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "ledger.jsonl"
    assert read_journal(path) == []
    for n in range(2):
        with Journal(path) as journal:
            journal.append({"n": n, "text": "정\n\ud83d"})
            journal.append({"n": n, "last": True})
    assert [(entry["n"], "last" in entry) for entry in read_journal(path)] == [
        (0, False), (0, True), (1, False), (1, True),
    ]  # fmt: skip
    assert read_journal(path)[0]["text"] == "정\n\ud83d"


def test_a_torn_last_line_is_left_out_and_set_aside_when_writing_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    path.write_bytes(b'{"id":"p1"}\n{"id":"p3","verd')
    assert read_journal(path) == [{"id": "p1"}]
    assert path.read_bytes().endswith(b'"verd'), "reading changes nothing"
    with Journal(path) as journal:
        journal.append({"id": "p4"})
    assert path.read_bytes() == b'{"id":"p1"}\n{"id":"p4"}\n'
    assert (tmp_path / "v.jsonl.torn").read_bytes() == b'{"id":"p3","verd\n'


def test_a_line_that_is_torn_only_by_its_end_is_torn_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    path.write_bytes(b'{"id":"p1"}\n{"id":"p2"}')
    assert read_journal(path) == [{"id": "p1"}]


@pytest.mark.parametrize("line", [b'{"id":', b"5", b"", b"[]", b"\xff"])
def test_damage_before_the_last_line_is_told_with_its_number(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "v.jsonl"
    path.write_bytes(b'{"id":"p1"}\n' + line + b'\n{"id":"p3"}\n')
    with pytest.raises(RecordError, match=r"v\.jsonl:2: damaged"):
        read_journal(path)


def test_a_disk_that_refuses_is_our_fault(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("a file")
    with pytest.raises(RecordError, match="cannot be written"):
        Journal(tmp_path / "folder" / "ledger.jsonl")
    with pytest.raises(RecordError, match="cannot be read"):
        read_journal(tmp_path)
