"""The run folder: one run each, derived files whole or not at all."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armgate.errors import RecordError
from armgate.reporting.run_folder import RunFolder, json_bytes, write_atomically

DIGEST = "sha256:" + "ab" * 32


def test_two_runs_never_share_a_folder(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path, "c", "20260101T000000Z", DIGEST)
    assert folder.root == tmp_path / "c" / "20260101T000000Z-abababab"
    with pytest.raises(RecordError, match="exists already"):
        RunFolder.create(tmp_path, "c", "20260101T000000Z", DIGEST)


def test_a_failed_write_leaves_the_old_file_and_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "quality.json"
    write_atomically(path, b"old")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(RecordError, match="No space left"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["quality.json"]


@given(st.text(st.characters(categories=None)))
def test_any_text_gives_valid_json_in_utf_8(text: str) -> None:
    data = json_bytes({"text": text})
    assert json.loads(data.decode("utf-8"))["text"] == text
