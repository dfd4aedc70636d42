"""The container launcher: the engine inside a pinned image, its files mounted read-only, gone at the end."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncIterator
from pathlib import Path, PurePosixPath
from typing import Any

import docker.types
from docker.models.containers import Container

from armgate.engines.environment import passed_on, recordable
from armgate.engines.hub import cache_folder, repository_folder
from armgate.engines.images import check_image, refuse_architecture
from armgate.engines.labels import BOOT_LABEL, OWNER_LABEL, owner
from armgate.engines.launchers.docker_host import DockerHost, follow, remove, signal
from armgate.engines.launchers.protocol import Launch, Observed, arm_files, pin_roles
from armgate.engines.listening import claim_port, free_port, listener_of
from armgate.engines.pins import PROGRAM, check_files, compare_packages, unseen
from armgate.engines.progress import growth
from armgate.engines.protocol import Address, ArmFiles, Located
from armgate.engines.server import Listener, Server
from armgate.model.arms import ContainerLauncher
from armgate.model.pins import HfPin, ImagePin, PackagesPin, PinCheck

INSIDE = PurePosixPath("/armgate")
HUB = INSIDE / "hub"
SCRATCH = Path("/tmp/armgate")  # noqa: S108 - inside the container, which has it to itself


class InContainer:
    """Starts the engine with the interpreter of the image."""

    def command(self, launch: Launch) -> list[str]:
        plan = Layout.of(launch, cache_folder())
        launcher = _launcher(launch)
        pin = launch.pins[launcher.image]
        assert isinstance(pin, ImagePin)
        words = ["docker", "run", "--network", launcher.network, "--shm-size", f"{launcher.shm_mib}m"]
        words += (
            ["--gpus", launcher.gpus if launcher.gpus == "all" else ",".join(launcher.gpus)]
            if launcher.gpus
            else []
        )
        for inside, outside in plan.mounts.items():
            words += ["-v", f"{outside}:{inside}:ro"]
        for name, value in recordable(_environment(launch), _launcher(launch).pass_env).items():
            words += ["-e", f"{name}={value}"]
        words += ["--entrypoint", launcher.python, f"{pin.image}@{pin.digest}"]
        return [*words, *_argv(launch, plan, Address("127.0.0.1", launcher.port or 0))]

    async def observe(self, launch: Launch) -> Observed:
        return await asyncio.to_thread(self._observe, launch)

    def _observe(self, launch: Launch) -> Observed:
        with _host(launch) as host:
            launcher = _launcher(launch)
            pin = launch.pins[launcher.image]
            assert isinstance(pin, ImagePin)
            seen = host.images(pin)
            image = check_image("image", launcher.image, pin, seen)
            refuse_architecture(image.observed or {}, host.machine())
            if image.state != "matches":
                return Observed((image,), {})
            layout = Layout.of(launch, cache_folder())
            named = _versions(host, launch, layout, str(seen[0]["id"]))
            others = [
                _pin(launch, host, role, name, named)
                for role, name in pin_roles(launch.arm)
                if role != "image"
            ]
            return Observed((image, *others), {n: v for n, v in named.items() if v is not None})

    @contextlib.asynccontextmanager
    async def serving(self, launch: Launch) -> AsyncIterator[Server]:
        host = await asyncio.to_thread(DockerHost, _launcher(launch), launch.arm.deadlines.start_s)
        try:
            async with self._running(launch, host) as server:
                yield server
        finally:
            await asyncio.to_thread(host.close)

    @contextlib.asynccontextmanager
    async def _running(self, launch: Launch, host: DockerHost) -> AsyncIterator[Server]:
        launcher, loop = _launcher(launch), asyncio.get_running_loop()
        port = claim_port(launcher.port) if host.is_local else launcher.port or free_port()
        at = Address("127.0.0.1" if host.is_local and launcher.network == "host" else "0.0.0.0", port)  # noqa: S104
        layout = Layout.of(launch, cache_folder())
        words = [launcher.python, *_argv(launch, layout, at)]
        pin = launch.pins[launcher.image]
        assert isinstance(pin, ImagePin)
        image = (await asyncio.to_thread(host.images, pin))[0]["id"]
        starting = asyncio.create_task(
            asyncio.to_thread(host.start, image, words, _options(launch, layout, port, host))
        )
        container = await _made(starting)
        pid = container.attrs["State"].get("Pid") if host.is_local else None
        server = Server(
            url=f"http://{host.address}:{port}",
            ended=asyncio.Event(),
            argv=tuple(words),
            environment=recordable(_environment(launch), _launcher(launch).pass_env),
            port=port if pid and launcher.network == "host" else None,
            log=launch.log,
            pid=pid,
            listener=lambda: listener_of(port, pid, same_user=False) if pid else Listener.UNKNOWN,
            signals=lambda: growth(pid, with_root=True) if pid else {},
            kill=lambda: asyncio.to_thread(signal, container, "SIGKILL"),
        )
        launch.log.touch()

        def ended(code: int, oom: bool) -> None:
            server.exit_code = code
            server.facts |= {"oom_killed": "true"} if oom else {}
            server.ended.set()

        follow(container, launch.log, lambda code, oom: _call(loop, ended, code, oom))
        try:
            yield server
        finally:
            await asyncio.shield(_stop(container, server, launch.arm.deadlines.stop_s))


async def _made(starting: asyncio.Task[Container]) -> Container:
    """The container, also where we are cancelled while Docker makes it: then it is removed first."""
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        await asyncio.shield(asyncio.to_thread(remove, await starting))
        raise


def _call(loop: asyncio.AbstractEventLoop, ended: Any, code: int, oom: bool) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is gone: nobody waits for this word any more
        loop.call_soon_threadsafe(ended, code, oom)


async def _stop(container: Container, server: Server, stop_s: float) -> None:
    """SIGTERM, SIGKILL, and the container with its volumes gone."""
    if not server.ended.is_set():
        await asyncio.to_thread(signal, container, "SIGTERM")
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(server.ended.wait(), stop_s)
    if not server.ended.is_set():
        await asyncio.to_thread(signal, container, "SIGKILL")
    await asyncio.to_thread(remove, container)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(server.ended.wait(), stop_s)


@dataclasses.dataclass(frozen=True)
class Layout:
    """Where an arm's files are inside the container, and what is mounted for that: inside -> outside."""

    files: ArmFiles
    mounts: dict[str, str]

    @classmethod
    def of(cls, launch: Launch, cache: Path) -> Layout:
        outside = arm_files(launch.arm, launch.pins, launch.root)
        mounts: dict[str, str] = {}
        declared = _launcher(launch).mounts

        def model(role: str, located: Located | None) -> Located | None:
            if located is None:
                return None
            if located.path is not None:
                mounts[str(INSIDE / role)] = str(located.path)
                return dataclasses.replace(located, path=Path(INSIDE / role))
            if str(HUB) not in declared:
                folder = repository_folder(
                    HfPin(hf=str(located.repository), revision=str(located.revision)), cache
                )
                mounts[str(HUB / folder.name)] = str(folder)
            return located

        target = model("target", outside.target)
        assert target is not None
        template = outside.chat_template
        if template is not None:
            mounts[str(INSIDE / "chat_template.jinja")] = str(template)
            template = Path(INSIDE / "chat_template.jinja")
        files = ArmFiles(
            target, model("draft", outside.draft), model("tokenizer", outside.tokenizer), template
        )
        return cls(files, mounts | dict(declared))


def _launcher(launch: Launch) -> ContainerLauncher:
    assert isinstance(launch.arm.launcher, ContainerLauncher)
    return launch.arm.launcher


@contextlib.contextmanager
def _host(launch: Launch) -> Any:
    host = DockerHost(_launcher(launch), launch.arm.deadlines.start_s)
    try:
        yield host
    finally:
        host.close()


def _argv(launch: Launch, layout: Layout, at: Address) -> tuple[str, ...]:
    return launch.engine.argv(launch.arm, layout.files, launch.model_id, at)


def _environment(launch: Launch) -> dict[str, str]:
    """Nothing of this program's own environment; the hub's cache is where it is mounted."""
    engine = launch.engine.environment(launch.arm, SCRATCH)
    launcher = _launcher(launch)
    own = {"HOME": str(SCRATCH), "HF_HUB_CACHE": str(HUB)}
    return {**own, **engine, **launcher.env, **passed_on(launcher.pass_env)}


def _options(launch: Launch, layout: Layout, port: int, host: DockerHost) -> dict[str, Any]:
    launcher = _launcher(launch)
    options: dict[str, Any] = {
        "labels": {BOOT_LABEL: launch.label, OWNER_LABEL: owner()},
        "environment": _environment(launch),
        "shm_size": f"{launcher.shm_mib}m",
        "network_mode": launcher.network,
        "security_opt": ["no-new-privileges"],
        **_mounts(layout),
    }
    if launcher.network == "bridge":
        options["ports"] = {f"{port}/tcp": ("127.0.0.1" if host.is_local else "0.0.0.0", port)}  # noqa: S104
    if launcher.gpus:
        chosen: dict[str, Any] = (
            {"count": -1} if launcher.gpus == "all" else {"device_ids": list(launcher.gpus)}
        )
        options["device_requests"] = [docker.types.DeviceRequest(capabilities=[["gpu"]], **chosen)]
    return options


def _mounts(layout: Layout) -> dict[str, Any]:
    return {
        "mounts": [
            docker.types.Mount(target=inside, source=outside, type="bind", read_only=True)
            for inside, outside in layout.mounts.items()
        ]
    }


def _versions(host: DockerHost, launch: Launch, layout: Layout, image: str) -> dict[str, str | None]:
    """Versions of packages inside the container, overlays mounted, asked of its own interpreter."""
    names = set(launch.engine.packages)
    pin = launch.pins[launch.arm.packages] if launch.arm.packages else None
    names |= set(pin.packages) if isinstance(pin, PackagesPin) else set()
    words = [_launcher(launch).python, "-c", PROGRAM, *sorted(names)]
    options = {
        "environment": _environment(launch),
        "labels": {BOOT_LABEL: launch.label, OWNER_LABEL: owner()},
    }
    versions: dict[str, str | None] = host.output(image, words, {**options, **_mounts(layout)})
    return versions


def _pin(launch: Launch, host: DockerHost, role: str, name: str, versions: dict[str, str | None]) -> PinCheck:
    pin = launch.pins[name]
    if isinstance(pin, PackagesPin):
        return compare_packages(
            role, name, pin, versions, "importlib.metadata inside a container of the image"
        )
    if not host.is_local:
        return unseen(role, name, pin, "the files are mounted on another machine")
    seen = check_files(role, name, pin, launch.root, {})
    return seen.model_copy(update={"method": f"{seen.method}; mounted read-only"})
