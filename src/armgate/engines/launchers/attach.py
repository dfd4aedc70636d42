"""The attach launcher: a client of a server that someone else booted, and nothing more.

It never starts, restarts, stops, flushes, tunes or downloads anything.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
from collections.abc import AsyncIterator
from pathlib import Path

from armgate.engines.launchers.protocol import Launch, Observed, pin_roles
from armgate.engines.pins import check_file, unseen
from armgate.engines.server import Server
from armgate.errors import BootError
from armgate.model.arms import AttachLauncher
from armgate.model.pins import FilePin, PinCheck

STATEMENT = (
    "attached to a running server: nothing was started, stopped, flushed or tuned; the requests consumed its "
    "capacity and changed the contents of its caches"
)


class Attach:
    """Uses what is there."""

    def command(self, launch: Launch) -> list[str]:
        return ["attach", base_url(_launcher(launch))]

    async def observe(self, launch: Launch) -> Observed:
        return Observed(tuple(_check(launch, role, name) for role, name in pin_roles(launch.arm)), {})

    @contextlib.asynccontextmanager
    async def serving(self, launch: Launch) -> AsyncIterator[Server]:
        launcher = _launcher(launch)
        key, notes = api_key(launcher, launch.root)
        yield Server(url=base_url(launcher), ended=asyncio.Event(), api_key=key, notes=(STATEMENT, *notes))


def _launcher(launch: Launch) -> AttachLauncher:
    assert isinstance(launch.arm.launcher, AttachLauncher)
    return launch.arm.launcher


def base_url(launcher: AttachLauncher) -> str:
    """Without a trailing `/v1`, which every endpoint's path brings along."""
    return launcher.url.rstrip("/").removesuffix("/v1").rstrip("/")


def api_key(launcher: AttachLauncher, root: Path) -> tuple[str | None, list[str]]:
    """The key out of the file or variable that the campaign names, and what there is to say about it."""
    if launcher.api_key_file is not None:
        path = (root / Path(launcher.api_key_file).expanduser()).resolve()
        try:
            key = path.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise BootError("api_key_missing", f"{launcher.api_key_file} cannot be read: {error}") from None
        loose = stat.S_IMODE(path.stat().st_mode) & 0o077
        return key, [f"{launcher.api_key_file} can be read by others: chmod 600"] if loose else []
    if launcher.api_key_env is not None:
        found = os.environ.get(launcher.api_key_env)
        if not found:
            raise BootError("api_key_missing", f"the variable {launcher.api_key_env} is not set")
        return found, []
    return None, []


def _check(launch: Launch, role: str, name: str) -> PinCheck:
    pin = launch.pins[name]
    if isinstance(pin, FilePin):
        seen = check_file(role, name, pin, launch.root)
        why = "the file was looked at here; whether the attached server uses it cannot be seen"
        return unseen(role, name, pin, why, seen.observed)
    return unseen(role, name, pin, "an attached server does not show it")
