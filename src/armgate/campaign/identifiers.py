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
from armgate.model.arms import AttachLauncher
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
    secrets = dict(_secrets(plan))
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


def _secrets(plan: Plan) -> Iterator[tuple[str, str]]:
    """By the name of the variable or file that holds each."""
    yield from ((name, value) for name, value in os.environ.items() if SECRET_NAME.search(name))
    for arm in plan.arms.values():
        if isinstance(arm.launcher, AttachLauncher):
            named, file = arm.launcher.api_key_env, arm.launcher.api_key_file
            if named is not None and named in os.environ:
                yield named, os.environ[named]
            if file is not None and Path(file).is_file():
                yield file, Path(file).read_text("utf-8", "replace").strip()


def _hosts(plan: Plan) -> Iterator[str]:
    for arm in plan.arms.values():
        if isinstance(arm.launcher, AttachLauncher):
            yield urlsplit(arm.launcher.url).hostname or ""


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
