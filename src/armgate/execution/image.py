"""The container tier's image: its name, and building it from this machine's own Python or a pinned base."""

from __future__ import annotations

import io
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import docker
import docker.errors

from armgate.errors import SandboxUnavailable, UsageError
from armgate.execution.interpreters import ZONES, Interpreter, find_interpreter, readable_by_me
from armgate.model.base import digest_bytes

REPOSITORY = "armgate-sandbox"
PINNED = re.compile(r"\S+@sha256:[0-9a-f]{64}\Z|sha256:[0-9a-f]{64}\Z")
BASE_RECIPE = "1"
"""Raised when `_base_files` changes what it packs, so that an older image is not taken for the new one."""

LEFT_OUT = frozenset(
    {"test", "tests", "idlelib", "ensurepip", "lib2to3", "turtledemo", "tkinter", "__pycache__"}
    | {"site-packages", "dist-packages"}
)
"""Parts of the library that no answer needs; site-packages would make an answer depend on this machine."""


def image_name(folder: Path) -> str:
    """Repository and tag: the tag names the recipe, so a changed recipe never runs an old image."""
    recipe = digest_bytes(BASE_RECIPE.encode() + (folder / "Dockerfile").read_bytes())
    return f"{REPOSITORY}:{recipe.removeprefix('sha256:')[:16]}"


def build_image(client: docker.DockerClient, folder: Path, base: str | None = None) -> str:
    """Builds the image and returns its id. Without `base`, from this machine's Python and no registry."""
    if base is not None and not PINNED.match(base):
        raise UsageError(f"{base!r} is not pinned: a base image is named by its digest, name@sha256:...")
    own = f"{REPOSITORY}-base:local"
    try:
        if base is None:
            _import_base(client, own)
        image, _ = client.images.build(
            path=str(folder),
            dockerfile="Dockerfile",
            buildargs={"BASE": base or own},
            network_mode="none",
            tag=image_name(folder),
            rm=True,
            forcerm=True,
            nocache=True,
        )
    except (docker.errors.DockerException, OSError) as error:
        raise SandboxUnavailable(f"the image could not be built: {error}") from None
    return str(image.id)


def _import_base(client: docker.DockerClient, name: str) -> None:
    interpreter = find_interpreter(readable_by_me)
    with tempfile.TemporaryFile() as archive:
        with tarfile.open(fileobj=archive, mode="w") as tar:
            _pack(tar, interpreter)
        archive.seek(0)
        repository, tag = name.split(":")
        client.api.import_image_from_data(archive, repository=repository, tag=tag)


def _pack(tar: tarfile.TarFile, interpreter: Interpreter) -> None:
    """A root file system that holds one Python: no shell, no package manager, no other program."""
    for name, mode in (("tmp", 0o1777), ("dev", 0o755), ("proc", 0o755), ("sys", 0o755), ("scratch", 0o755)):
        _add_folder(tar, name, mode)
    known: set[Path] = set()
    for path in sorted(_base_files(interpreter)):
        if path not in known:
            known.add(path)
            tar.add(path, arcname=str(path).lstrip("/"), recursive=False, filter=_as_root)
    for name in ("python3", "python"):
        link = tarfile.TarInfo(f"usr/bin/{name}")
        link.type, link.linkname = tarfile.SYMTYPE, str(interpreter.path)
        if Path("/", link.name) not in known:
            tar.addfile(link)
    _add_text(tar, "etc/passwd", "root:x:0:0::/:/none\nnobody:x:65534:65534::/:/none\n")
    _add_text(tar, "etc/group", "root:x:0:\nnogroup:x:65534:\n")


def _add_folder(tar: tarfile.TarFile, name: str, mode: int) -> None:
    folder = tarfile.TarInfo(name)
    folder.type, folder.mode = tarfile.DIRTYPE, mode
    tar.addfile(folder)


def _add_text(tar: tarfile.TarFile, name: str, text: str) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(text.encode())
    tar.addfile(info, io.BytesIO(text.encode()))


def _as_root(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """The same bytes for the same packages: no owner, no time, no special mode bits."""
    info.uid = info.gid = info.mtime = 0
    info.uname = info.gname = ""
    info.mode = 0o755 if info.isdir() or info.mode & 0o111 else 0o644
    return info


def _base_files(interpreter: Interpreter) -> Iterator[Path]:
    """The interpreter, its library, the shared libraries of both, time zones."""
    library = [path for folder in interpreter.library for path in _tree(folder)]
    yield from library
    yield from _linked(interpreter.path)
    programs = [interpreter.path, *(path for path in library if path.suffix == ".so" or ".so." in path.name)]
    for needed in _shared_libraries(programs):
        yield from _linked(needed)
    for zone in ZONES:
        yield from (_tree(zone) if zone.is_dir() else _linked(zone))


def _tree(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        parts = path.relative_to(folder).parts
        left_out = LEFT_OUT & set(parts) or parts[0].startswith("config-")  # what extensions are built with
        if not left_out and (path.is_file() or path.is_symlink()):
            yield from _linked(path)


def _linked(path: Path) -> Iterator[Path]:
    """A file and, where it or a folder above it is a link, what the links lead to."""
    for part in (*reversed(path.parents), path):
        if part.is_symlink():
            yield part
            target = (part.parent / part.readlink()) / path.relative_to(part)
            yield from _linked(Path(_normal(target)))
            return
    if path.is_file():
        yield path


def _normal(path: Path) -> str:
    """Without `..`, links untouched."""
    parts: list[str] = []
    for part in path.parts[1:]:
        if part == "..":
            parts = parts[:-1]
        else:
            parts.append(part)
    return "/" + "/".join(parts)


def _shared_libraries(programs: Iterable[Path]) -> set[Path]:
    """What the dynamic linker would load, the linker itself included."""
    answer = subprocess.run(["ldd", *programs], capture_output=True, text=True, check=False)
    if answer.returncode == 127:
        raise SandboxUnavailable("ldd is missing, and with it the list of libraries that Python needs")
    found = re.findall(r"(?:=> )?(/\S+) \(0x", answer.stdout)
    return {Path(place) for place in found}
