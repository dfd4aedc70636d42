"""An image made here without a registry: an empty root that this machine's system is mounted into."""

from __future__ import annotations

import io
import sys
import tarfile
from pathlib import Path

import docker

FOLDERS = ("dev", "etc", "proc", "sbin", "sys", "tmp", "usr", "var")
LINKS = ("bin", "lib", "lib64")
"""Links into /usr on this machine (and on every Debian of the last years), made where they are links here.
Docker puts its init program into /sbin, which therefore is a folder."""


def import_image(client: docker.DockerClient, repository: str = "armgate-test-engine") -> str:
    """Imports the image and returns its id, which is what a campaign pins it by."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for name in FOLDERS:
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o1777 if name == "tmp" else 0o755
            tar.addfile(folder)
        for name in LINKS:
            if Path("/", name).is_symlink():
                link = tarfile.TarInfo(name)
                link.type, link.linkname = tarfile.SYMTYPE, f"usr/{name}"
                tar.addfile(link)
    archive.seek(0)
    client.api.import_image_from_data(archive, repository=repository, tag="local")
    return str(client.images.get(f"{repository}:local").id)


def system_mounts(*more: Path) -> dict[str, str]:
    """This machine's system and some folders of it, inside the container at the same places."""
    folders = [Path("/usr"), Path("/etc"), *(Path("/", name) for name in LINKS), *more]
    return {str(folder): str(folder) for folder in folders if folder.is_dir() and not folder.is_symlink()}


def own_python_mounts() -> dict[str, str]:
    """Everything that this interpreter needs, an environment of its own included."""
    tests = Path(__file__).resolve().parents[1]
    site = {Path(entry) for entry in sys.path if entry.endswith("site-packages")}
    return system_mounts(Path(sys.prefix), Path(sys.base_prefix), tests, *site)
