"""Twenty boots that are killed at random moments, in random places: in the end nothing of them is left."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import docker
import docker.errors
import psutil
import pytest

from armgate.engines.labels import BOOT, BOOT_LABEL, OWNER_LABEL, SCRATCH_PREFIX, is_alive, owner
from armgate.engines.orphans import find_orphans, remove_orphans
from armgate.errors import SandboxUnavailable
from armgate.execution.container import connect
from support.engine_image import import_image
from support.stand_in import PROGRAM

BOOTS = 20
BOOTING = """
import asyncio, sys
from pathlib import Path
from armgate.engines.launchers.process import Program, running, scratch_folder
from armgate.engines.listening import free_port
from armgate.model.arms import ProcessLauncher

async def main(program, log, label):
    port = free_port()
    with scratch_folder() as scratch:
        child = "import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True); "
        serve = f"sys.argv = ['s', '--port', '{port}', '--model-id', 'm']; import runpy; runpy.run_path({program!r}, run_name='__main__')"
        launch = Program(ProcessLauncher(kind="process", python=sys.executable), Path(sys.executable),
            ("-c", child + serve), {}, scratch, port, Path(log), label, 1.0)
        async with running(launch) as server:
            print(port, server.pid, flush=True)
            await asyncio.sleep(600)

asyncio.run(main(*sys.argv[1:]))
"""  # noqa: E501 - programs read best on their own lines


def labelled(run: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(BOOT, "").startswith(run) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def victim(where: str, armgate: int, server: int) -> int:
    """The process to kill: Armgate, the supervisor between it and the server, or the server."""
    with contextlib.suppress(psutil.Error):
        return {"armgate": armgate, "supervisor": psutil.Process(server).ppid(), "server": server}[where]
    return armgate


def folders() -> set[Path]:
    return set(Path(tempfile.gettempdir()).glob(f"{SCRATCH_PREFIX}*"))


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.slow
def test_nothing_is_left_of_twenty_killed_boots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A folder of its own for temporary files: other programs make and leave theirs at the same time.
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    chance = random.Random(20261130)
    run = f"soak-{os.getpid()}"
    ports = []
    for number in range(BOOTS):
        words = [str(PROGRAM), str(tmp_path / f"{number}.log"), f"{run}/arm/{number:02d}"]
        armgate = subprocess.Popen(
            [sys.executable, "-c", BOOTING, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "TMPDIR": str(tmp_path)},
        )
        assert armgate.stdout is not None
        with armgate.stdout:
            port, server = (int(word) for word in armgate.stdout.readline().split())
        ports.append(port)
        time.sleep(chance.uniform(0.0, 0.6))
        where = chance.choice(["armgate", "supervisor", "server"])
        with contextlib.suppress(ProcessLookupError):
            os.kill(victim(where, armgate.pid, server), signal.SIGKILL)
        armgate.kill()
        armgate.wait()
    deadline = time.monotonic() + 30
    while (labelled(run) or folders()) and time.monotonic() < deadline:
        remove_orphans([o for o in find_orphans() if o.label.startswith(run) or Path(o.name) in folders()])
        time.sleep(0.2)
    assert labelled(run) == []
    assert folders() == set()
    assert not [port for port in ports if listens(port)]


def test_a_boot_of_a_living_armgate_is_no_orphan(tmp_path: Path) -> None:
    environment = {**os.environ, BOOT: "alive/arm/00", "ARMGATE_OWNER": owner()}
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], env=environment)
    try:
        assert [orphan for orphan in find_orphans() if orphan.label == "alive/arm/00"] == []
    finally:
        process.kill()
        process.wait()


def test_an_unreadable_mark_keeps_hands_off() -> None:
    assert is_alive("not a mark")
    assert not is_alive("999999999:1.0")
    assert not is_alive(f"{os.getpid()}:1.0")


@pytest.fixture
def engine(unavailable: Callable[[str, str], NoReturn]) -> Iterator[docker.DockerClient]:
    try:
        client = connect()
    except SandboxUnavailable as error:
        unavailable("docker", str(error))
    yield client
    client.close()


def test_a_container_of_a_killed_run_is_found_by_its_label_and_removed(engine: docker.DockerClient) -> None:
    labels = {BOOT_LABEL: "gone/arm/00", OWNER_LABEL: "999999999:1.0"}
    container = engine.containers.create(import_image(engine), command=["/bin/true"], labels=labels)
    orphans = [orphan for orphan in find_orphans() if orphan.label == "gone/arm/00"]
    assert [(orphan.kind, orphan.name) for orphan in orphans] == [("container", container.id)]
    remove_orphans(orphans)
    with pytest.raises(docker.errors.NotFound):
        engine.containers.get(str(container.id))
