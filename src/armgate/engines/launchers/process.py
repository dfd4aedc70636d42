"""The process launcher: starts an engine's program under the supervisor and ends it without a trace."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path

from armgate.engines import supervisor
from armgate.engines.environment import find_preloads, inherited_environment, passed_on, recordable
from armgate.engines.labels import OWNER_FILE, SCRATCH_PREFIX, folder_mark, marks
from armgate.engines.launchers.protocol import Launch, Observed, arm_files, pin_roles
from armgate.engines.listening import claim_port, listener_of
from armgate.engines.pins import check_pin, package_versions
from armgate.engines.progress import growth
from armgate.engines.protocol import Address
from armgate.engines.server import Server
from armgate.errors import BootError
from armgate.model.arms import ProcessLauncher


class Process:
    """Starts the engine with the interpreter that the campaign names, on this machine's loopback."""

    def command(self, launch: Launch) -> list[str]:
        launcher = _launcher(launch)
        return [launcher.python, *_argv(launch, launcher.port or 0)]

    async def observe(self, launch: Launch) -> Observed:
        python = _python(launch)
        environment = {**inherited_environment(), **_launcher(launch).env, **marks(launch.label)}
        pins = [
            await check_pin(role, name, launch.pins[name], launch.root, python, environment)
            for role, name in pin_roles(launch.arm)
        ]
        versions = await package_versions(python, list(launch.engine.packages), environment)
        return Observed(tuple(pins), {name: seen for name, seen in versions.items() if seen is not None})

    @contextlib.asynccontextmanager
    async def serving(self, launch: Launch) -> AsyncIterator[Server]:
        port = claim_port(_launcher(launch).port)
        with scratch_folder() as scratch:
            program = Program(
                launcher=_launcher(launch),
                python=_python(launch),
                arguments=tuple(_argv(launch, port)),
                engine_environment=launch.engine.environment(launch.arm, scratch),
                scratch=scratch,
                port=port,
                log=launch.log,
                label=launch.label,
                stop_s=launch.arm.deadlines.stop_s,
            )
            async with running(program) as server:
                yield server


def _launcher(launch: Launch) -> ProcessLauncher:
    assert isinstance(launch.arm.launcher, ProcessLauncher)
    return launch.arm.launcher


def _python(launch: Launch) -> Path:
    return launch.root / _launcher(launch).python


def _argv(launch: Launch, port: int) -> tuple[str, ...]:
    at = Address("127.0.0.1", port)
    return launch.engine.argv(
        launch.arm, arm_files(launch.arm, launch.pins, launch.root), launch.model_id, at
    )


@dataclasses.dataclass(frozen=True)
class Program:
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
            **passed_on(self.launcher.pass_env),
            **marks(self.label),
        }
        if preloads:
            environment["LD_PRELOAD"] = ":".join(preloads)
        return environment, missing


@contextlib.asynccontextmanager
async def running(program: Program) -> AsyncIterator[Server]:
    """A program for the length of the block. On the way out its whole tree is gone, whatever happened."""
    environment, missing = program.environment()
    process = await _start(program.argv, environment, program.scratch, program.log)
    server = Server(
        url=f"http://127.0.0.1:{program.port}",
        port=program.port,
        log=program.log,
        argv=program.argv,
        environment=recordable(environment, program.launcher.pass_env),
        notes=tuple(f"preload {pattern} was not found: the engine starts without it" for pattern in missing),
        pid=await _started(process),
        ended=asyncio.Event(),
        # Not the engine's own pid: what detaches from the engine becomes a child of the supervisor.
        listener=lambda: listener_of(program.port, process.pid, same_user=True),
        signals=lambda: growth(process.pid, with_root=False),
        kill=lambda: _order(process, 0.0),
    )
    listener = asyncio.create_task(_listen(process, server))
    try:
        yield server
    finally:
        await asyncio.shield(_stop(process, listener, server, program.stop_s))


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """A short private folder (engines put sockets in it, whose paths are limited to 107 bytes)."""
    folder = Path(tempfile.mkdtemp(prefix=SCRATCH_PREFIX))
    (folder / OWNER_FILE).write_text(folder_mark())
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


async def _order(process: asyncio.subprocess.Process, stop_s: float) -> None:
    """Tell the supervisor to end the server within `stop_s`; at once with 0."""
    assert process.stdin is not None
    with contextlib.suppress(ConnectionError):
        process.stdin.write(f"stop {stop_s}\n".encode())
        await process.stdin.drain()


async def _stop(
    process: asyncio.subprocess.Process, listener: asyncio.Task[None], server: Server, stop_s: float
) -> None:
    if not server.ended.is_set():
        await _order(process, stop_s)
    await listener
    await process.wait()
