"""The process launcher: starts an engine's program under the supervisor and ends it without a trace."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path

import psutil

from armgate.engines import supervisor
from armgate.errors import BootError
from armgate.model.arms import ProcessLauncher

PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "HF_HOME", "HF_HUB_CACHE", "HF_TOKEN")
PASSED_ON_PREFIXES = ("CUDA_", "NCCL_", "GLOO_", "OMP_", "MKL_", "NVIDIA_", "ROCM_", "HIP_")
UNRECORDED_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL")
SYSTEM_LIBRARIES = ("/usr/lib", "/usr/lib64", "/usr/local/lib")
LABEL = "ARMGATE_BOOT"
"""Every process of a boot carries this variable, so that a later start can find what a crash left."""


@dataclasses.dataclass
class Server:
    """A running server: where it listens, what it was started with, and how it ended if it has."""

    url: str
    port: int
    log: Path
    argv: tuple[str, ...]
    environment: dict[str, str]
    scratch: Path
    missing_preloads: tuple[str, ...]
    pid: int
    ended: asyncio.Event
    exit_code: int | None = None

    def owns_listener(self) -> bool:
        """Whether the listening socket on our port belongs to this boot and to nothing else."""
        try:
            root = psutil.Process(self.pid)
            family = [root, *root.children(recursive=True)]
        except psutil.Error:
            return False
        return any(self._listens(process) for process in family)

    def _listens(self, process: psutil.Process) -> bool:
        try:
            sockets = process.net_connections(kind="tcp")
        except psutil.Error:
            return False
        return any(s.status == psutil.CONN_LISTEN and s.laddr and s.laddr.port == self.port for s in sockets)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def inherited_environment() -> dict[str, str]:
    """Variables of ours that a server may see; everything else stays out."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in PASSED_ON or name.startswith(PASSED_ON_PREFIXES)
    }


def recordable(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment as it may be written down: names that speak of credentials lose their value."""
    return {
        name: "(set, not recorded)" if any(word in name for word in UNRECORDED_WORDS) else value
        for name, value in sorted(environment.items())
    }


def find_preloads(patterns: tuple[str, ...], python: Path) -> tuple[list[str], list[str]]:
    """Libraries for LD_PRELOAD (first match of each pattern in the engine's environment, then the system)."""
    roots = [python.parent.parent, *(Path(folder) for folder in SYSTEM_LIBRARIES)]
    found: list[str] = []
    missing: list[str] = []
    for pattern in patterns:
        match = next((path for root in roots for path in sorted(root.rglob(pattern))), None)
        (missing if match is None else found).append(pattern if match is None else str(match))
    return found, missing


@dataclasses.dataclass(frozen=True)
class Launch:
    """One start of a program. `scratch` is private to the boot and vanishes with it."""

    launcher: ProcessLauncher
    python: Path
    arguments: tuple[str, ...]
    engine_environment: Mapping[str, str]
    scratch: Path
    port: int
    log: Path
    label: str
    stop_s: float

    @property
    def argv(self) -> tuple[str, ...]:
        return (str(self.python), *self.arguments)

    def environment(self) -> tuple[dict[str, str], list[str]]:
        """The server's whole environment, and preload patterns that matched nothing."""
        preloads, missing = find_preloads(self.launcher.preload, self.python)
        environment = {
            **inherited_environment(),
            "HOME": str(self.scratch),
            "TMPDIR": str(self.scratch),
            **self.engine_environment,
            **self.launcher.env,
            LABEL: self.label,
        }
        if preloads:
            environment["LD_PRELOAD"] = ":".join(preloads)
        return environment, missing


@contextlib.asynccontextmanager
async def serving(launch: Launch) -> AsyncIterator[Server]:
    """A server for the length of the block. On the way out its whole tree is gone, whatever happened."""
    environment, missing = launch.environment()
    process = await _start(launch.argv, environment, launch.scratch, launch.log)
    server = Server(
        url=f"http://127.0.0.1:{launch.port}",
        port=launch.port,
        log=launch.log,
        argv=launch.argv,
        environment=recordable(environment),
        scratch=launch.scratch,
        missing_preloads=tuple(missing),
        pid=await _started(process),
        ended=asyncio.Event(),
    )
    listener = asyncio.create_task(_listen(process, server))
    try:
        yield server
    finally:
        await asyncio.shield(_stop(process, listener, server, launch.stop_s))


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """A short private folder (engines put sockets in it, whose paths are limited to 107 bytes)."""
    folder = Path(tempfile.mkdtemp(prefix="armgate-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _start(
    argv: tuple[str, ...], environment: dict[str, str], scratch: Path, log: Path
) -> asyncio.subprocess.Process:
    if not Path(argv[0]).exists():
        raise BootError("engine_missing", f"{argv[0]} does not exist: the engine's environment is not there")
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        str(Path(supervisor.__file__)),
        str(log),
        str(scratch),
        "--",
        *argv,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=environment,
        cwd=scratch,
        start_new_session=True,
    )


async def _event(process: asyncio.subprocess.Process) -> dict[str, object] | None:
    assert process.stdout is not None
    line = await process.stdout.readline()
    return json.loads(line) if line else None


async def _started(process: asyncio.subprocess.Process) -> int:
    event = await _event(process)
    if event is None or event.get("event") != "started":
        message = (event or {}).get("message", "the supervisor ended without a word")
        raise BootError("not_started", str(message))
    return int(str(event["pid"]))


async def _listen(process: asyncio.subprocess.Process, server: Server) -> None:
    while (event := await _event(process)) is not None:
        if event.get("event") == "exited":
            server.exit_code = int(str(event["code"]))
            server.ended.set()
        elif event.get("event") == "killed":
            server.ended.set()
    server.ended.set()


async def _stop(
    process: asyncio.subprocess.Process, listener: asyncio.Task[None], server: Server, stop_s: float
) -> None:
    assert process.stdin is not None
    if not server.ended.is_set():
        with contextlib.suppress(ConnectionError):
            process.stdin.write(f"stop {stop_s}\n".encode())
            await process.stdin.drain()
    await listener
    await process.wait()
