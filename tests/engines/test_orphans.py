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

from armgate.engines.labels import (
    BOOT,
    BOOT_LABEL,
    OWNER,
    OWNER_FILE,
    OWNER_LABEL,
    SCRATCH_PREFIX,
    folder_mark,
    is_alive,
    owner,
)
from armgate.engines.orphans import find_orphans, remove_orphans
from armgate.errors import SandboxUnavailable
from armgate.execution.container import connect
from support.engine_image import import_image
from support.labelled import labelled
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


def mark(**changed: str) -> str:
    """This process's mark, but for some of its fields."""
    fields = dict(zip(("pid", "start_ticks", "kernel", "namespace"), owner().split("/"), strict=True))
    return "/".join((fields | changed).values())


DEAD = "999999999"
ELSEWHERE = [
    {"kernel": "11111111-2222-3333-4444-555555555555"},
    {"namespace": "pid:[1]"},
]


@contextlib.contextmanager
def marked_process(label: str, marked_owner: str) -> Iterator[subprocess.Popen[bytes]]:
    environment = {**os.environ, BOOT: label, OWNER: marked_owner}
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], env=environment)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("marked_owner", [owner(), *(mark(pid=DEAD, **other) for other in ELSEWHERE)])
def test_a_boot_of_an_armgate_that_may_live_is_no_orphan(marked_owner: str) -> None:
    with marked_process("alive/arm/00", marked_owner):
        assert [orphan for orphan in find_orphans() if orphan.label == "alive/arm/00"] == []


def test_a_process_is_ended_only_while_it_bears_the_marks_that_were_found() -> None:
    with marked_process("gone/arm/01", mark(pid=DEAD)) as process:
        (orphan,) = [orphan for orphan in find_orphans() if orphan.label == "gone/arm/01"]
        remove_orphans([orphan._replace(label="gone/arm/02"), orphan._replace(owner=owner())])
        assert process.poll() is None
        remove_orphans([orphan])
        assert not psutil.pid_exists(process.pid)


def test_who_is_gone_is_told_by_id_and_start_within_one_kernel_and_namespace() -> None:
    assert is_alive(owner())
    assert not is_alive(mark(pid=DEAD))
    assert not is_alive(mark(start_ticks="1"))


@pytest.mark.parametrize("elsewhere", ELSEWHERE)
def test_a_mark_from_elsewhere_keeps_hands_off(elsewhere: dict[str, str]) -> None:
    assert is_alive(mark(pid=DEAD, **elsewhere))


@pytest.mark.parametrize("unreadable", ["not a mark", "", "999999999:1.0", mark(pid="x"), mark(kernel="")])
def test_an_unreadable_mark_keeps_hands_off(unreadable: str) -> None:
    assert is_alive(unreadable)


def test_an_ended_process_that_nobody_reaped_lives_no_more() -> None:
    # It tells its own start while it can.
    tell = "print(open('/proc/self/stat').read().rpartition(')')[2].split()[19])"
    process = subprocess.Popen([sys.executable, "-c", tell], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout:
        started = process.stdout.read().strip()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    try:
        assert not is_alive(mark(pid=str(process.pid), start_ticks=started))
    finally:
        process.wait()


@pytest.mark.parametrize(
    ("folder_owner", "found"),
    [
        (folder_mark(), False),
        (folder_mark().replace(owner(), mark(pid=DEAD)), True),
        (folder_mark().replace(owner(), mark(**ELSEWHERE[0])), True),
        (f"{mark(**ELSEWHERE[0])}\nanother-machine", False),
        (folder_mark().replace(owner(), mark(pid=DEAD, **ELSEWHERE[1])), False),
    ],
    ids=["ours", "dead", "before this machine's start", "another machine's", "another namespace's"],
)
def test_a_private_folder_is_an_orphan_once_its_machine_or_owner_is_gone(
    folder_owner: str, found: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = tmp_path / f"{SCRATCH_PREFIX}x"
    folder.mkdir()
    (folder / OWNER_FILE).write_text(folder_owner)
    folders_found = [Path(orphan.name) for orphan in find_orphans() if orphan.kind == "folder"]
    assert folders_found == [folder] * found


@pytest.fixture
def engine(unavailable: Callable[[str, str], NoReturn]) -> Iterator[docker.DockerClient]:
    try:
        client = connect()
    except SandboxUnavailable as error:
        unavailable("docker", str(error))
    yield client
    client.close()


def test_a_container_of_a_killed_run_is_found_by_its_label_and_removed(engine: docker.DockerClient) -> None:
    labels = {BOOT_LABEL: "gone/arm/00", OWNER_LABEL: mark(pid=DEAD)}
    container = engine.containers.create(import_image(engine), command=["/bin/true"], labels=labels)
    orphans = [orphan for orphan in find_orphans() if orphan.label == "gone/arm/00"]
    assert [(orphan.kind, orphan.name) for orphan in orphans] == [("container", container.id)]
    remove_orphans(orphans)
    with pytest.raises(docker.errors.NotFound):
        engine.containers.get(str(container.id))


def test_a_container_of_another_host_on_the_same_docker_engine_is_left_alone(
    engine: docker.DockerClient,
) -> None:
    labels = {BOOT_LABEL: "far/arm/00", OWNER_LABEL: mark(pid=DEAD, **ELSEWHERE[0])}
    container = engine.containers.create(import_image(engine), command=["/bin/true"], labels=labels)
    try:
        assert [orphan for orphan in find_orphans() if orphan.label == "far/arm/00"] == []
    finally:
        container.remove(force=True)
