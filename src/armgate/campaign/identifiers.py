"""What identifies a machine, its owner and a run's place: strings that a published copy may not have."""

from __future__ import annotations

import dataclasses
import getpass
import os
import re
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from armgate.campaign.evidence import boot_record
from armgate.client.secrets import Secrets
from armgate.errors import UsageError
from armgate.loading.workspace import find_workspace
from armgate.model.arms import AttachLauncher, ContainerLauncher
from armgate.model.base import Json
from armgate.model.plan import Plan
from armgate.reporting.run_folder import RunFolder
from armgate.reporting.withholding import ABSOLUTE_PATH

SECRET_NAME = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|ACCESS_KEY|PRIVATE_KEY", re.I)
ORDINARY = frozenset(("", "root", "localhost", "127.0.0.1", "::1", "0.0.0.0", "user", "admin", "nobody"))  # noqa: S104
SYSTEM_PLACES = ("/usr/", "/lib/", "/bin/", "/opt/", "/etc/", "/dev/", "/proc/", "/sys/")
"""The same on every machine, so that they identify none."""


@dataclasses.dataclass(frozen=True)
class Identifiers:
    """Names by kind, and secrets in all their forms."""

    names: Mapping[str, tuple[str, ...]]
    secrets: Secrets
    secret_count: int

    def has_secret(self, data: bytes) -> bool:
        return bool(self.secrets.found_in(data, 0))

    def words(self) -> list[str]:
        return [word for words in self.names.values() for word in words]


def identifiers_of(run: RunFolder, plan: Plan) -> Identifiers:
    """Of this machine and user as they are now, and of the run as it recorded itself."""
    secrets = dict(_secrets(plan, run))
    host = socket.gethostname()
    names = {
        "host name": {host, host.partition(".")[0], socket.getfqdn(), *_hosts(plan)},
        "address": set(_addresses()),
        "user": {getpass.getuser()},
        "path": {str(Path.home()), *_paths(run, plan)},
    }
    return Identifiers(
        {kind: tuple(sorted(found - ORDINARY)) for kind, found in names.items()},
        Secrets(secrets),
        len(secrets),
    )


def _secrets(plan: Plan, run: RunFolder) -> Iterator[tuple[str, str]]:
    """By the name of the variable or file that holds each."""
    yield from ((name, value) for name, value in os.environ.items() if SECRET_NAME.search(name))
    for arm in plan.arms.values():
        launcher = arm.launcher
        if isinstance(launcher, AttachLauncher):
            names: tuple[str, ...] = tuple(filter(None, (launcher.api_key_env,)))
            if launcher.api_key_file is not None:
                yield launcher.api_key_file, _key_in(launcher.api_key_file, run)
        else:
            names = launcher.pass_env
        for name in names:
            if name not in os.environ:
                raise UsageError(f"{name} is not set here, so its value cannot be searched for in the copy")
            yield name, os.environ[name]


def _key_in(file: str, run: RunFolder) -> str:
    """The key where the attach launcher finds it; what cannot be searched for is not published."""
    path = Path(file).expanduser()
    try:
        place = path if path.is_absolute() else find_workspace(start=run.root).root / path
        return place.read_text("utf-8", "replace").strip()
    except OSError as error:
        raise UsageError(
            f"{file} cannot be read, so its key cannot be searched for in the copy: {error.strerror}"
        ) from None


def _hosts(plan: Plan) -> Iterator[str]:
    for arm in plan.arms.values():
        if isinstance(arm.launcher, AttachLauncher):
            yield urlsplit(arm.launcher.url).hostname or ""
        if isinstance(arm.launcher, ContainerLauncher):
            where = urlsplit(arm.launcher.host or "")
            yield from (where.hostname or "", where.username or "", arm.launcher.address or "")


def _addresses() -> Iterator[str]:
    for interface in psutil.net_if_addrs().values():
        for address in interface:
            if address.family in (socket.AF_INET, socket.AF_INET6):
                yield address.address.partition("%")[0]


def _paths(run: RunFolder, plan: Plan) -> Iterator[str]:
    """Absolute paths of the run's own records, each with the folders above it but the shallowest."""
    for boot in plan.boots:
        folder = run.boot(boot.arm, boot.boot)
        if folder.record.exists():
            for text in _texts(boot_record(folder).model_dump(mode="json")):
                for match in ABSOLUTE_PATH.finditer(text):
                    yield from _with_parents(match[0].rstrip("/"))
    yield from _with_parents(str(run.root.resolve()))


def _with_parents(path: str) -> Iterator[str]:
    if path.startswith(SYSTEM_PLACES):
        return
    parts = path.split("/")
    yield from ("/".join(parts[:n]) for n in range(3, len(parts) + 1))


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for below in value.values():
            yield from _texts(below)
    elif isinstance(value, list):
        for below in value:
            yield from _texts(below)
