"""The container tier: one hardened container per sandbox on a Docker Engine, by image id; or on gVisor."""

from __future__ import annotations

import os
import socket
import struct
import time
from http import HTTPStatus
from pathlib import Path
from typing import Any

import docker
import docker.errors
import requests.exceptions
from docker.types import LogConfig, Ulimit

from armgate.errors import SandboxUnavailable
from armgate.execution.channels import ChannelClosed, ChannelSilent
from armgate.execution.harness import ENVIRONMENT, PYTHON_FLAGS, Harness, sandbox_folder
from armgate.execution.image import PINNED, image_name
from armgate.execution.sandbox import Sandbox
from armgate.execution.wire import KILL_ALL, LISTEN
from armgate.model.execution import Limits, Tier

NOBODY = "65534:65534"
SCRATCH = "/scratch"
PROCESSES = 64
OVERHEAD_MB = 128
LABEL = "armgate.sandbox"
IMAGE_VARIABLE = "ARMGATE_SANDBOX_IMAGE"
ENGINE_TIMEOUT_S = 60

_TROUBLES = (docker.errors.DockerException, requests.exceptions.RequestException, OSError)


def connect() -> docker.DockerClient:
    """A client of the engine that DOCKER_HOST names, or of the default one; the caller closes it."""
    try:
        return from_environment(ENGINE_TIMEOUT_S)
    except _TROUBLES as error:
        said = f"asked the Docker Engine at {engine_address()}: {error}. {_advice(str(error))}"
        raise SandboxUnavailable(said) from None


def engine_address() -> str:
    return os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"


def from_environment(timeout_s: int) -> docker.DockerClient:
    """The library's own client. A socket that is missing or closed to us is found first, as an OSError:
    the library would leak one of its own."""
    where = engine_address()
    if where.startswith("unix://"):
        with socket.socket(socket.AF_UNIX) as door:
            door.connect(where.removeprefix("unix://"))
    return docker.from_env(timeout=timeout_s)


def _advice(answer: str) -> str:
    if "Permission denied" in answer:
        return "Join the group docker, or run a rootless engine and set DOCKER_HOST"
    if "too old" in answer or "too new" in answer:
        return "The engine speaks another API version: update it, or set DOCKER_API_VERSION"
    return "Install and start Docker, or set DOCKER_HOST"


class ContainerTier:
    """`ARMGATE_SANDBOX_IMAGE` pins another image than the one that `armgate sandbox build` made."""

    name = "container"
    runtime: str | None = None

    def __init__(self, harness: Harness) -> None:
        self._harness = harness
        self._init = True
        folder = sandbox_folder()
        self._profile = (folder / "seccomp.json").read_text("utf-8")
        self._client = connect()
        try:
            self._engine = self._client.version()
            self._image = self._find_image(folder)
            self._demand_runtime()
        except BaseException:
            self.close()
            raise

    def _demand_runtime(self) -> None:
        known = self._client.info().get("Runtimes") or {}
        if self.runtime is not None and self.runtime not in known:
            raise SandboxUnavailable(f"the engine knows no runtime {self.runtime}, only: {', '.join(known)}")

    def _find_image(self, folder: Path) -> str:
        """The image's id, looked up once: what is run is never looked up by a name that can move."""
        pinned = os.environ.get(IMAGE_VARIABLE)
        if pinned is not None and not PINNED.match(pinned):
            raise SandboxUnavailable(f"{IMAGE_VARIABLE}={pinned} is no digest: sha256:... or name@sha256:...")
        try:
            return str(self._client.images.get(pinned or image_name(folder)).id)
        except docker.errors.ImageNotFound:
            name = pinned or image_name(folder)
            raise SandboxUnavailable(
                f"the engine has no image {name}: build it with `armgate sandbox build`"
            ) from None
        except _TROUBLES as error:
            raise SandboxUnavailable(f"asked the engine for its image: {error}") from None

    def start(self, limits: Limits) -> Sandbox:
        sandbox = self._start(limits)
        if self._init and not sandbox.facts["landlock"]:
            # The engine's init process is the same user's, and without Landlock an answer could read it.
            sandbox.close()
            self._init = False
            sandbox = self._start(limits)
        return sandbox

    def _start(self, limits: Limits) -> Sandbox:
        try:
            channel = ContainerChannel(self._client.api, self._create(limits))
        except _TROUBLES as error:
            raise SandboxUnavailable(f"the engine did not start a container: {error}") from None
        return Sandbox(
            channel,
            self._harness,
            {"scratch": SCRATCH, "uid": None, "readable": None, "file_rules": "wanted"},
            flags=LISTEN | KILL_ALL,
            processes=PROCESSES,
        )

    def _create(self, limits: Limits) -> str:
        api = self._client.api
        memory = (limits.memory_mb + limits.scratch_mb + OVERHEAD_MB) << 20
        scratch = f"rw,noexec,nosuid,nodev,size={limits.scratch_mb}m,mode=1777"
        host = api.create_host_config(
            network_mode="none",
            read_only=True,
            tmpfs={SCRATCH: scratch},
            cap_drop=["ALL"],
            security_opt=["no-new-privileges", f"seccomp={self._profile}"],
            pids_limit=PROCESSES + 8,
            mem_limit=memory,
            memswap_limit=memory,
            nano_cpus=10**9,
            ulimits=[
                Ulimit(name="nofile", soft=256, hard=256),
                Ulimit(name="core", soft=0, hard=0),
                Ulimit(name="fsize", soft=limits.scratch_mb << 20, hard=limits.scratch_mb << 20),
            ],
            ipc_mode="none",
            init=self._init,
            log_config=LogConfig(type="none"),
            auto_remove=True,  # if this process is killed, the harness ends with its stdin
            runtime=self.runtime,
        )
        created: dict[str, Any] = api.create_container(
            self._image,
            command=["python3", *PYTHON_FLAGS],
            user=NOBODY,
            working_dir=SCRATCH,
            environment=ENVIRONMENT,
            stdin_open=True,
            network_disabled=True,
            host_config=host,
            labels={LABEL: str(os.getpid())},
        )
        return str(created["Id"])

    def close(self) -> None:
        self._client.close()

    def describe(self, sandbox: Sandbox) -> Tier:
        engine = f"Docker Engine {self._engine.get('Version')}, runtime {self.runtime or 'runc'}"
        return Tier(
            name=self.name,
            version=f"{engine}, image {self._image}, Python {sandbox.facts['python']}",
            profile=self._harness.digest,
            isolates=(
                "system calls: allow-list (no network, no new processes, no other process)",
                "files: an image of its own, read-only; scratch on tmpfs with a quota, noexec",
                "processes, network, IPC, host name: namespaces of its own; no network device but loopback",
                "user 65534, no capabilities, no new privileges",
                "memory without swap, process count, one processor: control groups",
                "CPU time, wall time, address space, output, open files and file size per case",
                *self.kernel_isolates,
            ),
            does_not=self.kernel_shared,
        )

    kernel_isolates: tuple[str, ...] = ("system calls: a second filter around the whole container",)
    kernel_shared: tuple[str, ...] = ("shares the host's kernel",)


class GvisorTier(ContainerTier):
    """The same container on gVisor's kernel. About 80 ms a case, so it is used only where asked for."""

    name = "container+gvisor"
    runtime = "runsc"
    kernel_isolates = ("the kernel: gVisor answers the system calls",)
    kernel_shared = (
        "does not name the system call that ended a case",
        "the harness's own environment, which holds constants only, can be read",
    )


_HEADER = struct.Struct(">BxxxI")
"""The engine's framing of an attached container's output: stream number and length."""

STDOUT = 1


class ContainerChannel:
    """The attached standard streams of a container. Attached before the start, so nothing is missed."""

    def __init__(self, api: docker.APIClient, container: str) -> None:
        self._api, self._container = api, container
        self._socket: socket.socket | None = None
        self._rest = b""
        try:
            raw = api.attach_socket(container, params={"stdin": 1, "stdout": 1, "stream": 1})
            self._socket = getattr(raw, "_sock", raw)
            self._raw = raw
            api.start(container)
        except BaseException:
            self.close()
            raise

    def send(self, data: bytes, deadline: float) -> None:
        connection = self._connection(deadline)
        try:
            connection.sendall(data)
        except TimeoutError:
            raise ChannelSilent from None
        except OSError:
            raise ChannelClosed from None

    def receive(self, deadline: float) -> bytes:
        while True:
            kind, length = self._header(deadline)
            body = self._exactly(length, deadline)
            if kind == STDOUT and body:
                return body

    def _header(self, deadline: float) -> tuple[int, int]:
        kind, length = _HEADER.unpack(self._exactly(_HEADER.size, deadline))
        return kind, length

    def _exactly(self, size: int, deadline: float) -> bytes:
        while len(self._rest) < size:
            try:
                part = self._connection(deadline).recv(1 << 16)
            except TimeoutError:
                raise ChannelSilent from None
            except OSError:
                raise ChannelClosed from None
            if not part:
                raise ChannelClosed
            self._rest += part
        data, self._rest = self._rest[:size], self._rest[size:]
        return data

    def _connection(self, deadline: float) -> socket.socket:
        if self._socket is None:
            raise ChannelClosed
        self._socket.settimeout(max(0.001, deadline - time.monotonic()))
        return self._socket

    def last_words(self) -> str:
        return ""  # the engine keeps no log of it

    def close(self) -> None:
        # The socket first: an engine waits for minutes to kill a container whose output nobody reads.
        if self._socket is not None:
            self._socket.close()
            self._raw.close()
            self._socket = None
        try:
            self._remove()
        except docker.errors.NotFound:
            return
        except _TROUBLES as error:
            said = f"the engine did not remove container {self._container}: {error}"
            raise SandboxUnavailable(said) from None

    def _remove(self) -> None:
        try:
            self._api.remove_container(self._container, force=True, v=True)
        except docker.errors.APIError as error:
            if error.status_code != HTTPStatus.CONFLICT:
                raise
            # It had ended by itself and the engine is removing it already.
            self._api.wait(self._container, condition="removed")
