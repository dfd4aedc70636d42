"""Pins checked where they are used: folders by tree digest, files by sha256, packages inside the engine."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from pathlib import Path

from armgate.engines.protocol import Located
from armgate.errors import BootError
from armgate.model.base import Json
from armgate.model.pins import DirectoryPin, FilePin, HfPin, PackagesPin, Pin, PinCheck, PinState

_VERSIONS = """
import importlib.metadata, json, sys
out = {}
for name in sys.argv[1:]:
    try:
        out[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        out[name] = None
print(json.dumps(out))
"""


def file_sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def tree_digest(folder: Path) -> str:
    """`sha256:` over lines `<sha256 hex>  <relative path>\\n` sorted by the path's bytes, every file one."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    lines = {path.relative_to(folder).as_posix().encode(): file_sha256(path) for path in files}
    text = b"".join(digest.encode() + b"  " + name + b"\n" for name, digest in sorted(lines.items()))
    return "sha256:" + hashlib.sha256(text).hexdigest()


def locate(name: str, pin: Pin, root: Path) -> Located:
    """Where a model pin's files are. Paths in a campaign are relative to the workspace."""
    if isinstance(pin, DirectoryPin):
        return Located(name, path=(root / pin.dir).resolve())
    if isinstance(pin, HfPin):
        return Located(name, repository=pin.hf, revision=pin.revision)
    raise BootError("pin_kind", f"pin {name!r} is no model: give `hf` and `revision`, or `dir` and `tree`")


def check_directory(role: str, name: str, pin: DirectoryPin, root: Path) -> PinCheck:
    folder = (root / pin.dir).resolve()
    if not folder.is_dir():
        return _check(role, name, pin, None, PinState.DIFFERS, f"{pin.dir} is no folder")
    seen = tree_digest(folder)
    state = PinState.MATCHES if seen == pin.tree else PinState.DIFFERS
    return _check(role, name, pin, {"tree": seen}, state, "sha256 of every file, before the start")


def check_file(role: str, name: str, pin: FilePin, root: Path) -> PinCheck:
    path = (root / pin.file).resolve()
    if not path.is_file():
        return _check(role, name, pin, None, PinState.DIFFERS, f"{pin.file} is no file")
    seen = file_sha256(path)
    agrees = pin.sha256 is None or pin.sha256 == seen
    method = "sha256 of the file" if pin.sha256 else "sha256 of the file, recorded (the campaign states none)"
    return _check(role, name, pin, {"sha256": seen}, PinState.MATCHES if agrees else PinState.DIFFERS, method)


def snapshot_folder(pin: HfPin) -> Path:
    """Where the hub's cache keeps a repository's files of one commit, if it has them."""
    home = Path(os.environ.get("HF_HOME", "~/.cache/huggingface")).expanduser()
    cache = Path(os.environ.get("HF_HUB_CACHE", home / "hub"))
    return cache / f"models--{pin.hf.replace('/', '--')}" / "snapshots" / pin.revision


def check_hub(role: str, name: str, pin: HfPin) -> PinCheck:
    """A hub snapshot is stored under the commit it came from; that folder is what can be checked offline."""
    if snapshot_folder(pin).is_dir():
        return _check(
            role, name, pin, {"revision": pin.revision}, PinState.MATCHES, "snapshot folder in the hub cache"
        )
    return _check(
        role, name, pin, None, PinState.UNVERIFIED, "revision passed to the engine; no snapshot folder to see"
    )


async def package_versions(python: Path, names: list[str]) -> dict[str, str | None]:
    """Versions of packages inside an engine's environment, asked of its own interpreter."""
    try:
        process = await asyncio.create_subprocess_exec(
            str(python), "-I", "-c", _VERSIONS, *names, stdout=asyncio.subprocess.PIPE
        )
        out, _ = await process.communicate()
    except OSError as error:
        raise BootError("engine_missing", f"{python} cannot be run: {error.strerror}") from None
    if process.returncode != 0:
        raise BootError("engine_missing", f"{python} cannot be run: exit code {process.returncode}")
    versions: dict[str, str | None] = json.loads(out)
    return versions


async def check_packages(role: str, name: str, pin: PackagesPin, python: Path) -> PinCheck:
    seen = await package_versions(python, sorted(pin.packages))
    agrees = all(seen.get(package) == version for package, version in pin.packages.items())
    observed: dict[str, Json] = {"packages": seen}
    return _check(
        role,
        name,
        pin,
        observed,
        PinState.MATCHES if agrees else PinState.DIFFERS,
        "importlib.metadata inside the engine's environment",
    )


async def check_pin(role: str, name: str, pin: Pin, root: Path, python: Path) -> PinCheck:
    """One pin of an arm that a local program will use."""
    if isinstance(pin, DirectoryPin):
        return await asyncio.to_thread(check_directory, role, name, pin, root)
    if isinstance(pin, FilePin):
        return await asyncio.to_thread(check_file, role, name, pin, root)
    if isinstance(pin, HfPin):
        return check_hub(role, name, pin)
    if isinstance(pin, PackagesPin):
        return await check_packages(role, name, pin, python)
    return _check(role, name, pin, None, PinState.UNVERIFIED, "an image says nothing about a local program")


def _check(
    role: str, name: str, pin: Pin, observed: dict[str, Json] | None, state: PinState, method: str
) -> PinCheck:
    return PinCheck(
        role=role, name=name, asked=pin.model_dump(), observed=observed, state=state, method=method
    )
