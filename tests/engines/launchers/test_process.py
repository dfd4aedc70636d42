"""The process launcher: a server's whole tree is gone on the way out, whatever it does."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from armgate.engines.environment import find_preloads, recordable
from armgate.engines.launchers.process import Program, running, scratch_folder
from armgate.engines.server import Server
from armgate.errors import BootError
from armgate.model.arms import ProcessLauncher

STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
print(child.pid, flush=True)
time.sleep(600)
"""
ORPHAN = """
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
print(child.pid, flush=True)
"""


def launch(script: str, folder: Path, stop_s: float = 0.5) -> Program:
    return Program(
        launcher=ProcessLauncher(kind="process", python=sys.executable),
        python=Path(sys.executable),
        arguments=("-c", script),
        engine_environment={},
        scratch=folder,
        port=1,
        log=folder / "server.log",
        label="test/arm/00",
        stop_s=stop_s,
    )


async def logged_pid(server: Server) -> int:
    for _ in range(200):
        text = server.log.read_text() if server.log.exists() else ""
        if text.strip():
            return int(text.split()[0])
        await asyncio.sleep(0.05)
    raise AssertionError("the server said nothing")


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.anyio
async def test_a_server_that_ignores_sigterm_and_its_detached_child_are_ended(tmp_path: Path) -> None:
    async with running(launch(STUBBORN, tmp_path)) as server:
        child = await logged_pid(server)
        assert is_running(server.pid)
        assert is_running(child)
    assert not is_running(server.pid)
    assert not is_running(child)


@pytest.mark.anyio
async def test_what_a_server_that_ended_left_behind_is_ended_too(tmp_path: Path) -> None:
    async with running(launch(ORPHAN, tmp_path)) as server:
        child = await logged_pid(server)
        await asyncio.wait_for(server.ended.wait(), 20)
        assert server.exit_code == 0
    assert not is_running(child)


@pytest.mark.anyio
async def test_cancelling_ends_the_server(tmp_path: Path) -> None:
    started: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def serve() -> None:
        async with running(launch(STUBBORN, tmp_path)) as server:
            started.set_result(await logged_pid(server))
            await asyncio.sleep(600)

    task = asyncio.create_task(serve())
    child = await started
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not is_running(child)


def test_a_killed_armgate_leaves_no_server(tmp_path: Path) -> None:
    """SIGKILL cannot be caught; the supervisor sees the end of its stdin."""
    script = f"""
import asyncio, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_process import STUBBORN, launch, logged_pid
from armgate.engines.launchers.process import running
from pathlib import Path
async def main():
    async with running(launch(STUBBORN, Path({str(tmp_path)!r}))) as server:
        print(server.pid, await logged_pid(server), flush=True)
        await asyncio.sleep(600)
asyncio.run(main())
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout:
        pids = [int(word) for word in process.stdout.readline().split()]
        assert len(pids) == 2
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    deadline = time.monotonic() + 30
    while any(is_running(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(is_running(pid) for pid in pids)


@pytest.mark.anyio
async def test_a_missing_interpreter_is_told_as_such(tmp_path: Path) -> None:
    broken = Program(**{**launch(ORPHAN, tmp_path).__dict__, "python": tmp_path / "none" / "python"})
    with pytest.raises(BootError) as caught:
        async with running(broken):
            raise AssertionError("it cannot have started")
    assert caught.value.cause == "engine_missing"


def test_the_scratch_folder_is_short_and_goes(tmp_path: Path) -> None:
    with scratch_folder() as folder:
        assert folder.is_dir()
        assert len(str(folder)) < 60
    assert not folder.exists()


def test_credentials_are_not_recorded() -> None:
    recorded = recordable({"HF_TOKEN": "hf_secret", "PATH": "/bin"})
    assert recorded == {"HF_TOKEN": "(set, not recorded)", "PATH": "/bin"}


def test_preloads_that_are_not_there_are_named(tmp_path: Path) -> None:
    library = tmp_path / "lib" / "libyes.so"
    library.parent.mkdir()
    library.touch()
    python = tmp_path / "bin" / "python"
    assert find_preloads(("libyes.so", "libno-such-thing.so"), python) == (
        [str(library)],
        ["libno-such-thing.so"],
    )
