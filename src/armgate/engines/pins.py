"""Pins checked where they are used: folders by tree digest, files by sha256, packages inside the engine."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Mapping
from pathlib import Path

from armgate.engines.digests import file_digest, tree_digest
from armgate.engines.hub import cache_folder, snapshot_folder, wrong_files
from armgate.engines.protocol import Located
from armgate.errors import BootError
from armgate.model.base import Json
from armgate.model.pins import DirectoryPin, FilePin, HfPin, PackagesPin, Pin, PinCheck, PinState
from armgate.model.redaction import redacted

PROGRAM = """
import importlib.metadata, json, sys
out = {}
for name in sys.argv[1:]:
    try:
        out[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        out[name] = None
print(json.dumps(out))
"""
"""What an interpreter is given to tell the versions of the distributions named as its arguments."""


DEADLINE_S = 60.0
"""For an interpreter to start, on a slow disk too, and to tell its versions."""
END_S = 5.0
SHOWN_BYTES = 2000


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
    seen = file_digest(path)
    agrees = pin.sha256 is None or pin.sha256 == seen
    method = "sha256 of the file" if pin.sha256 else "sha256 of the file, recorded (the campaign states none)"
    return _check(role, name, pin, {"sha256": seen}, PinState.MATCHES if agrees else PinState.DIFFERS, method)


def check_hub(role: str, name: str, pin: HfPin, cache: Path) -> PinCheck:
    """A commit's files in the hub cache, each against the digest that it is stored under."""
    folder = snapshot_folder(pin, cache)
    wrong, compared, files = wrong_files(folder)
    observed: dict[str, Json] = {"revision": pin.revision, "files": files, "compared": compared}
    if wrong:
        told = f"not what the hub named them: {', '.join(wrong)}"
        return _check(role, name, pin, observed | {"wrong": wrong}, PinState.DIFFERS, told)
    if not files or compared < files:
        told = f"snapshot folder of the revision; {files - compared} of {files} files have no digest to hold"
        return _check(role, name, pin, observed, PinState.UNVERIFIED, told)
    told = "snapshot folder of the revision, each file against the digest that it is stored under"
    return _check(role, name, pin, observed, PinState.MATCHES, told)


def unseen(role: str, name: str, pin: Pin, why: str, observed: dict[str, Json] | None = None) -> PinCheck:
    """A pin that cannot be looked at where it is used; `observed` is what was seen elsewhere."""
    return _check(role, name, pin, observed, PinState.UNVERIFIED, why)


async def package_versions(
    python: Path, names: list[str], environment: Mapping[str, str]
) -> dict[str, str | None]:
    """Versions of packages inside an engine's environment, asked of its own interpreter.

    `environment` carries the boot's marks, so that a program that outlives a crash here can be found.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            str(python), "-I", "-c", PROGRAM, *names,
            stdout=asyncio.subprocess.PIPE, env=environment, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise BootError("engine_missing", f"{python} cannot be run: {error.strerror}") from None
    try:
        async with asyncio.timeout(DEADLINE_S):
            out, _ = await process.communicate()
    except TimeoutError:
        raise BootError("engine_missing", f"{python} tells no versions within {DEADLINE_S:g} s") from None
    finally:
        await _end(process)
    if process.returncode != 0:
        raise BootError("engine_missing", f"{python} cannot be run: exit code {process.returncode}")
    try:
        versions: dict[str, str | None] = json.loads(out)
    except ValueError:
        shown = redacted(out)[:SHOWN_BYTES]
        raise BootError(
            "engine_missing", f"{python} is no Python interpreter: it printed {shown!r}"
        ) from None
    return versions


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill what still runs of a program in a session of its own: `python` may be a script that starts one."""
    assert process.stdout is not None
    if process.returncode is not None and process.stdout.at_eof():
        return  # nobody holds its output open, and its id may be another's by now
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(END_S):
            await process.wait()


def compare_packages(
    role: str, name: str, pin: PackagesPin, seen: Mapping[str, str | None], method: str
) -> PinCheck:
    versions = {package: seen.get(package) for package in sorted(pin.packages)}
    state = PinState.MATCHES if versions == dict(pin.packages) else PinState.DIFFERS
    return _check(role, name, pin, {"packages": versions}, state, method)


def check_files(role: str, name: str, pin: Pin, root: Path, environment: Mapping[str, str]) -> PinCheck:
    """A pin of files on this machine; the hub's cache is where `environment` says it is."""
    if isinstance(pin, DirectoryPin):
        return check_directory(role, name, pin, root)
    if isinstance(pin, FilePin):
        return check_file(role, name, pin, root)
    if isinstance(pin, HfPin):
        return check_hub(role, name, pin, cache_folder(environment))
    return unseen(role, name, pin, "nothing on this machine shows it")


async def check_pin(
    role: str, name: str, pin: Pin, root: Path, python: Path, environment: Mapping[str, str]
) -> PinCheck:
    """One pin of an arm that a local program will use, with the environment that it will have."""
    if isinstance(pin, PackagesPin):
        seen = await package_versions(python, sorted(pin.packages), environment)
        return compare_packages(role, name, pin, seen, "importlib.metadata inside the engine's environment")
    return await asyncio.to_thread(check_files, role, name, pin, root, environment)


def _check(
    role: str, name: str, pin: Pin, observed: dict[str, Json] | None, state: PinState, method: str
) -> PinCheck:
    return PinCheck(
        role=role, name=name, asked=pin.model_dump(), observed=observed, state=state, method=method
    )
