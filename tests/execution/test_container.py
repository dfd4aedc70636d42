"""The container tier on a real Docker Engine: what a container may, what is left, what is refused."""

from __future__ import annotations

import contextlib
import io
import json
import os
import socket
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docker
import pytest

from armgate.errors import SandboxUnavailable, UsageError
from armgate.execution.container import IMAGE_VARIABLE, LABEL, ContainerTier, GvisorTier, connect
from armgate.execution.harness import Harness, sandbox_folder
from armgate.execution.image import build_image, image_name
from armgate.execution.sandbox import Sandbox
from armgate.execution.wire import CaseRequest
from armgate.model.execution import Ended, Limits

LIMITS = Limits(memory_mb=128, scratch_mb=16)


@pytest.fixture
def tier(docker_engine: str, harness: Harness) -> Iterator[ContainerTier]:
    backend = ContainerTier(harness)
    yield backend
    backend.close()


@pytest.fixture
def client(docker_engine: str) -> Iterator[docker.DockerClient]:
    with contextlib.closing(connect()) as connected:
        yield connected


@pytest.fixture
def sandbox(tier: ContainerTier) -> Iterator[Sandbox]:
    started = tier.start(LIMITS)
    yield started
    started.close()


def ours(client: docker.DockerClient) -> list[Any]:
    return client.containers.list(all=True, filters={"label": f"{LABEL}={os.getpid()}"})


def test_what_a_container_may(sandbox: Sandbox, client: docker.DockerClient, docker_engine: str) -> None:
    details = ours(client)[0].attrs
    host, config = details["HostConfig"], details["Config"]
    assert details["Image"] == docker_engine
    assert config["User"] == "65534:65534"
    assert host["NetworkMode"] == "none"
    assert host["ReadonlyRootfs"] is True
    assert host["CapDrop"] == ["ALL"]
    assert not host["CapAdd"]
    assert host["Privileged"] is False
    assert host["Binds"] is None
    assert not details["Mounts"]
    assert list(host["Tmpfs"]) == ["/scratch"]
    assert {"noexec", "nosuid", "nodev", "size=16m"} <= set(host["Tmpfs"]["/scratch"].split(","))
    assert "no-new-privileges" in host["SecurityOpt"]
    profile = next(text for text in host["SecurityOpt"] if text.startswith("seccomp="))
    assert json.loads(profile.removeprefix("seccomp="))["defaultAction"] == "SCMP_ACT_ERRNO"
    assert host["Memory"] == host["MemorySwap"] == (128 + 16 + 128) << 20
    assert host["PidsLimit"] == 72
    assert host["NanoCpus"] == 10**9
    assert host["IpcMode"] == "none"
    assert host["Init"] is True
    assert {limit["Name"] for limit in host["Ulimits"]} == {"nofile", "core", "fsize"}


def test_the_harness_found_itself_without_rights(sandbox: Sandbox) -> None:
    assert sandbox.facts["uid"] == 65534
    assert int(sandbox.facts["capabilities"], 16) == 0


def test_a_container_is_gone_after_its_close(tier: ContainerTier, client: docker.DockerClient) -> None:
    started = tier.start(LIMITS)
    assert len(ours(client)) == 1
    started.close()
    assert ours(client) == []


def test_a_container_whose_host_hangs_up_removes_itself(
    tier: ContainerTier, client: docker.DockerClient
) -> None:
    started = tier.start(LIMITS)
    started._channel._socket.shutdown(socket.SHUT_RDWR)
    for _ in range(100):
        if not ours(client):
            break
        time.sleep(0.1)
    assert ours(client) == []
    started.close()


def test_closing_in_the_middle_of_a_flood_does_not_hang(
    tier: ContainerTier, client: docker.DockerClient
) -> None:
    started = tier.start(LIMITS)
    flood = b"import os\ndef f():\n    while True: os.write(1, bytes(65536))\n"
    request = CaseRequest(kind="function", text=flood, seal="", entry="f", arguments=[], output_bytes=1 << 30)
    started._channel.send(request.encoded(0, 0), time.monotonic() + 10)
    started.close()
    assert ours(client) == []


def test_a_container_killed_from_outside_is_lost_and_no_verdict(
    tier: ContainerTier, client: docker.DockerClient
) -> None:
    started = tier.start(LIMITS)
    ours(client)[0].kill()
    request = CaseRequest(kind="function", text=b"def f(): return 1", seal="", entry="f", arguments=[])
    observed = started.run(request)
    assert observed.ending is None
    assert observed.lost == "the channel closed before the case had ended"
    started.close()


def test_memory_beyond_the_address_space_is_the_control_groups(sandbox: Sandbox) -> None:
    """Files of the scratch folder are memory that no process has mapped."""
    text = b"""
def f():
    kept = bytearray(60 << 20)
    for i in range(6):
        with open(str(i), "wb") as file:
            file.write(bytes(2 << 20))
    return len(kept)
"""
    request = CaseRequest(
        kind="function", text=text, seal="ab" * 16, entry="f", arguments=[], memory_mb=128, scratch_mb=16
    )
    observed = sandbox.run(request)
    assert observed.ending is not None
    assert observed.ending.ended is Ended.EXITED
    assert observed.result.startswith(b"Vi")


def test_the_image_holds_a_python_and_nothing_else(client: docker.DockerClient, docker_engine: str) -> None:
    container = client.containers.create(docker_engine, command=["python3"])
    try:
        data = b"".join(container.export())
    finally:
        container.remove()
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        members = tar.getmembers()
    programs = {m.name for m in members if m.name.startswith(("bin/", "usr/bin/", "sbin/", "usr/sbin/"))}
    assert {Path(name).name.rstrip("0123456789.") for name in programs} <= {"python"}
    assert not [m.name for m in members if m.isfile() and m.mode & 0o6000]
    assert not [m.name for m in members if "site-packages" in m.name]


def test_the_same_machine_builds_the_same_files(client: docker.DockerClient, docker_engine: str) -> None:
    first = client.images.get("armgate-sandbox-base:local").attrs["RootFS"]["Layers"]
    build_image(client, sandbox_folder())
    assert client.images.get("armgate-sandbox-base:local").attrs["RootFS"]["Layers"] == first


def test_a_base_image_is_pinned_or_refused(client: docker.DockerClient) -> None:
    with pytest.raises(UsageError, match="not pinned"):
        build_image(client, sandbox_folder(), base="python:3.12-slim")


def test_an_image_that_cannot_be_fetched_is_told(client: docker.DockerClient) -> None:
    with pytest.raises(SandboxUnavailable, match="could not be built"):
        build_image(client, sandbox_folder(), base="registry.invalid/python@sha256:" + "0" * 64)


def test_a_missing_image_says_what_to_do(
    docker_engine: str, harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(IMAGE_VARIABLE, "sha256:" + "0" * 64)
    with pytest.raises(SandboxUnavailable, match="armgate sandbox build"):
        ContainerTier(harness)
    monkeypatch.setenv(IMAGE_VARIABLE, "python:latest")
    with pytest.raises(SandboxUnavailable, match="is no digest"):
        ContainerTier(harness)


def test_a_pinned_image_is_used(
    docker_engine: str, harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(IMAGE_VARIABLE, docker_engine)
    backend = ContainerTier(harness)
    with contextlib.closing(backend), contextlib.closing(backend.start(LIMITS)) as box:
        assert docker_engine in (backend.describe(box).version or "")


def test_the_name_of_the_image_follows_its_recipe(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM a\n")
    first = image_name(tmp_path)
    (tmp_path / "Dockerfile").write_text("FROM b\n")
    assert image_name(tmp_path) != first


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("unix:///nonexistent/docker.sock", "No such file.*Install and start Docker"),
        ("tcp://127.0.0.1:9", "asked the Docker Engine at tcp://127.0.0.1:9"),
    ],
)
def test_an_engine_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch, where: str, says: str) -> None:
    monkeypatch.setenv("DOCKER_HOST", where)
    with pytest.raises(SandboxUnavailable, match=says):
        connect()


def test_gvisor_where_it_is_installed_and_told_where_not(
    docker_engine: str, harness: Harness, client: docker.DockerClient
) -> None:
    if "runsc" not in client.info()["Runtimes"]:
        with pytest.raises(SandboxUnavailable, match="knows no runtime runsc"):
            GvisorTier(harness)
        return
    backend = GvisorTier(harness)
    with contextlib.closing(backend), contextlib.closing(backend.start(LIMITS)) as box:
        fork = b"import os\ndef f(): os.fork()\n"
        request = CaseRequest(kind="function", text=fork, seal="", entry="f", arguments=[])
        observed = box.run(request)
        assert observed.ending is not None
        assert observed.ending.signal == 31
        assert "gVisor" in str(backend.describe(box).isolates)
