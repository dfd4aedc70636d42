"""The container launcher on a real Docker engine: what runs is what was pinned, and nothing of it is left."""

from __future__ import annotations

import asyncio
import gc
import os
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import docker
import docker.errors
import pytest

from armgate.engines.labels import BOOT_LABEL
from armgate.engines.launchers.container import InContainer
from armgate.engines.launchers.protocol import Launch
from armgate.engines.readiness import wait_until_listening
from armgate.errors import BootError
from armgate.model.arms import Arm, ContainerLauncher, Deadlines
from armgate.model.pins import DirectoryPin, ImagePin, PackagesPin, PinState
from support.engine_image import import_image, own_python_mounts
from support.stand_in import StandInEngine

LABEL = "test/container/00"


@pytest.fixture(scope="module")
def engine(unavailable: Callable[[str, str], NoReturn]) -> Iterator[docker.DockerClient]:
    try:
        client = docker.from_env()
        client.ping()
    except docker.errors.DockerException as error:
        unavailable("docker", str(error))
    yield client
    client.close()


@pytest.fixture(scope="module")
def image(engine: docker.DockerClient) -> str:
    return import_image(engine)


@pytest.fixture
def launch(image: str, tmp_path: Path) -> Launch:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "weights").write_bytes(b"weights")
    return Launch(
        arm=Arm(
            name="a",
            engine="stand-in",
            launcher=ContainerLauncher(
                kind="container", image="image", python=sys.executable, mounts=own_python_mounts()
            ),
            target="target",
            packages="engine",
            reference="a",
            deadlines=Deadlines(stop_s=5.0, ready_s=60.0),
        ),
        engine=StandInEngine(),
        pins={
            "target": DirectoryPin(dir="model", tree=_tree(tmp_path / "model")),
            "engine": PackagesPin(packages={"aiohttp": _version("aiohttp")}),
            "image": ImagePin(image="armgate-test-engine", digest=image),
        },
        root=tmp_path,
        model_id="served",
        log=tmp_path / "server.log",
        label=LABEL,
    )


def _tree(folder: Path) -> str:
    from armgate.engines.digests import tree_digest

    return tree_digest(folder)


def _version(package: str) -> str:
    from importlib.metadata import version

    return version(package)


def changed(launch: Launch, *, pins: dict[str, Any] | None = None, **launcher: Any) -> Launch:
    arm = launch.arm.model_copy(update={"launcher": launch.arm.launcher.model_copy(update=launcher)})
    return Launch(**{**launch.__dict__, "arm": arm, "pins": {**launch.pins, **(pins or {})}})


def left(engine: docker.DockerClient) -> list[str]:
    return [c.name for c in engine.containers.list(all=True, filters={"label": f"{BOOT_LABEL}={LABEL}"})]


@pytest.mark.anyio
async def test_pins_are_checked_where_they_are_used(launch: Launch, engine: docker.DockerClient) -> None:
    seen = await InContainer().observe(launch)
    assert {pin.role: pin.state for pin in seen.pins} == dict.fromkeys(
        ("image", "target", "packages"), PinState.MATCHES
    )
    assert seen.versions["aiohttp"] == _version("aiohttp")
    image = next(pin for pin in seen.pins if pin.role == "image")
    assert image.observed is not None
    assert {"id", "repo_digests", "manifest", "architecture"} <= set(image.observed)
    assert left(engine) == []


@pytest.mark.anyio
async def test_a_server_in_a_container_is_ready_and_leaves_nothing(
    launch: Launch, engine: docker.DockerClient
) -> None:
    async with InContainer().serving(launch) as server:
        listening = await wait_until_listening(
            server, launch.engine, "served", launch.arm.deadlines, lambda line: None
        )
        assert listening.version == "stand-in 1"
        assert len(left(engine)) == 1
        (container,) = engine.containers.list(filters={"label": f"{BOOT_LABEL}={LABEL}"})
        assert not any(mount["RW"] for mount in container.attrs["Mounts"])
    assert left(engine) == []
    assert server.exit_code is not None
    assert not Path(f"/proc/{server.pid}").exists()


@pytest.mark.anyio
async def test_a_server_that_dies_in_its_container_is_told_with_its_log(launch: Launch) -> None:
    dying = launch.arm.model_copy(update={"serve": {"die_at_start": True}})
    launch = Launch(**{**launch.__dict__, "arm": dying})
    with pytest.raises(BootError, match="told to fail") as caught:
        async with InContainer().serving(launch) as server:
            await wait_until_listening(
                server, launch.engine, "served", launch.arm.deadlines, lambda line: None
            )
    assert caught.value.cause == "engine_error"


@pytest.mark.anyio
async def test_cancelling_the_start_leaves_no_container(launch: Launch, engine: docker.DockerClient) -> None:
    async def serve() -> None:
        async with InContainer().serving(launch):
            await asyncio.sleep(600)

    for delay_s in (0.0, 0.05, 0.5):
        task = asyncio.create_task(serve())
        await asyncio.sleep(delay_s)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert left(engine) == []


@pytest.mark.anyio
async def test_another_digest_or_a_missing_image_is_refused(launch: Launch) -> None:
    other = "sha256:" + "0" * 64
    moved = changed(launch, pins={"image": ImagePin(image="armgate-test-engine", digest=other)})
    (check,) = (await InContainer().observe(moved)).pins
    assert check.state is PinState.DIFFERS
    gone = changed(launch, pins={"image": ImagePin(image="org/never-pulled", digest=other)})
    with pytest.raises(BootError, match=r"docker pull org/never-pulled@sha256:000") as caught:
        await InContainer().observe(gone)
    assert caught.value.cause == "image_not_found"


@pytest.mark.anyio
async def test_versions_are_those_inside_with_overlays_laid_over(launch: Launch, tmp_path: Path) -> None:
    overlay = tmp_path / "overlay" / "aiohttp-0.0.1.dist-info"
    overlay.mkdir(parents=True)
    (overlay / "METADATA").write_text("Metadata-Version: 2.1\nName: aiohttp\nVersion: 0.0.1\n")
    mounts = {**own_python_mounts(), "/overlay": str(overlay.parent)}
    seen = await InContainer().observe(changed(launch, mounts=mounts, env={"PYTHONPATH": "/overlay"}))
    packages = next(pin for pin in seen.pins if pin.role == "packages")
    assert packages.state is PinState.DIFFERS
    assert packages.observed == {"packages": {"aiohttp": "0.0.1"}}


@pytest.mark.anyio
@pytest.mark.filterwarnings("ignore::ResourceWarning")
async def test_a_host_behind_ssh_is_reached_by_the_systems_own_ssh(
    launch: Launch, engine: docker.DockerClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program called ssh that goes nowhere but to this machine's engine: the way is the SDK's own."""
    pytest.importorskip("paramiko", reason="the Docker SDK wants paramiko for ssh (extra `ssh`)")
    program = tmp_path / "bin" / "ssh"
    program.parent.mkdir()
    here = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\nexec docker --host {here} system dial-stdio\n'
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    remote = changed(launch, host="ssh://user@spark-2", address="127.0.0.1")
    seen = await InContainer().observe(remote)
    assert {pin.role: pin.state.value for pin in seen.pins} == {
        "image": "matches",
        "target": "unverified",
        "packages": "matches",
    }
    async with InContainer().serving(remote) as server:
        await wait_until_listening(server, launch.engine, "served", launch.arm.deadlines, lambda line: None)
        assert server.pid is None
    assert left(engine) == []
    assert "spark-2" in (tmp_path / "asked").read_text()
    gc.collect()  # the SDK leaves the ending of its ssh programs to the collector, which warns of each


def test_the_plan_shows_the_exact_command(launch: Launch) -> None:
    words = InContainer().command(changed(launch, gpus="all", shm_mib=2048))
    text = " ".join(words)
    assert "--gpus all" in text
    assert "--shm-size 2048m" in text
    assert f"{launch.root}/model:/armgate/target:ro" in text
    assert text.index("armgate-test-engine@sha256:") < text.index("--model-id served")
