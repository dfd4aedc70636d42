"""One Docker engine: what it has and does for a boot. Its errors become BootErrors here and nowhere else."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import docker
import docker.errors
import requests.exceptions
from docker.models.containers import Container

from armgate.engines.images import references, seen_image
from armgate.engines.labels import BOOT_LABEL, OWNER_LABEL
from armgate.errors import BootError, InfrastructureError, UsageError
from armgate.execution.container import from_environment
from armgate.model.arms import ContainerLauncher
from armgate.model.base import Json
from armgate.model.pins import ImagePin
from armgate.model.redaction import LogMask

GONE = (docker.errors.DockerException, requests.exceptions.RequestException, OSError)
"""What the SDK raises, its HTTP library and the socket below it included."""

SHOWN_BYTES = 2000


@contextlib.contextmanager
def docker_errors(cause: str) -> Iterator[None]:
    """Whatever the SDK raises, as a BootError."""
    try:
        yield
    except GONE as error:
        raise BootError(cause, f"Docker: {getattr(error, 'explanation', None) or error}") from None


class DockerHost:
    """The engine that a launcher names, else the environment's."""

    def __init__(self, launcher: ContainerLauncher, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        with docker_errors("docker_unavailable"):
            if launcher.host is None:
                self.client = from_environment(int(timeout_s))
            else:
                # The system's own ssh knows the user's keys, agents and host aliases.
                ssh = launcher.host.startswith("ssh://")
                if ssh and importlib.util.find_spec("paramiko") is None:
                    raise BootError("docker_unavailable", "ssh:// needs the extra `ssh` (armgate[ssh])")
                self.client = docker.DockerClient(
                    base_url=launcher.host, timeout=int(timeout_s), use_ssh_client=ssh
                )
        base = str(self.client.api.base_url)
        self.is_local = base.startswith("http+docker://localhost")
        self.is_local &= not (launcher.host or "").startswith(("ssh://", "tcp://"))
        self.address = launcher.address or ("127.0.0.1" if self.is_local else _host_of(launcher.host or base))

    def close(self) -> None:
        self.client.close()

    def machine(self) -> str:
        with docker_errors("docker_unavailable"):
            return str(self.client.info().get("Architecture", ""))

    def images(self, pin: ImagePin) -> list[dict[str, Json]]:
        """The pinned image alone where it is there, else all that bear its name."""
        with docker_errors("docker_unavailable"):
            for reference in references(pin):
                with contextlib.suppress(docker.errors.NotFound):
                    return [seen_image(self.client.images.get(reference).attrs)]
            return [seen_image(image.attrs) for image in self.client.images.list(name=pin.image)]

    def output(self, image: str, words: list[str], options: dict[str, Any]) -> Json:
        """What a container prints, as JSON; it has the time of any request to end, and is removed."""
        with docker_errors("engine_missing"):
            container = self.client.containers.create(
                image, entrypoint=words[:1], command=words[1:], network_mode="none", **options
            )
            try:
                container.start()
                container.wait(timeout=self._timeout_s)  # without one the SDK waits for ever
                said = container.logs(stdout=True, stderr=False)
            finally:
                container.remove(force=True, v=True)
        try:
            return json.loads(said)
        except ValueError:
            mask = LogMask(options.get("environment", {}))
            shown = (mask.feed(said) + mask.flush())[:SHOWN_BYTES]
            raise BootError("engine_missing", f"{words[0]} in the image printed {shown!r}") from None

    def start(self, image: str, words: list[str], options: dict[str, Any]) -> Container:
        """A running container; one that was made and cannot start is removed."""
        with docker_errors("not_started"):
            container = self.client.containers.create(
                image, entrypoint=words[:1], command=words[1:], init=True, **options
            )
            try:
                container.start()
                container.reload()
            except BaseException:
                container.remove(force=True, v=True)
                raise
            return container


def follow(container: Container, log: Path, ended: Callable[[int, bool], None]) -> None:
    """Copy a container's output to `log`, credentials masked, and tell its end (exit code, out of memory).

    Neither of its two threads keeps the program alive: a log that never ends must not hold a campaign up.
    """

    def copy() -> None:
        with contextlib.suppress(*GONE), log.open("ab", buffering=0) as out:
            mask = LogMask(environment_of(container))
            for data in container.logs(stream=True, follow=True):
                out.write(mask.feed(data))
            out.write(mask.flush())

    def wait() -> None:
        code, oom = -1, False
        with contextlib.suppress(*GONE):
            code = int(container.wait(timeout=None)["StatusCode"])
            container.reload()
            oom = bool(container.attrs["State"].get("OOMKilled"))
        copier.join(timeout=5.0)
        ended(code, oom)

    copier = threading.Thread(target=copy, daemon=True)
    copier.start()
    threading.Thread(target=wait, daemon=True).start()


def environment_of(container: Container) -> dict[str, str]:
    pairs = (text.partition("=") for text in container.attrs["Config"].get("Env") or ())
    return {name: value for name, _, value in pairs}


def signal(container: Container, name: str) -> None:
    """Send a signal; a container that is gone already needs none."""
    with contextlib.suppress(docker.errors.APIError, requests.exceptions.RequestException):
        container.kill(signal=name)


def remove(container: Container) -> None:
    with contextlib.suppress(docker.errors.NotFound), docker_errors("not_removed"):
        container.remove(force=True, v=True)


def _host_of(url: str) -> str:
    return urlsplit(url).hostname or "127.0.0.1"


def registry_digest(image: str, tag: str) -> str:
    """The digest that a tag leads to now, asked of its registry through the Docker engine."""
    try:
        client = from_environment(60)
    except GONE as error:
        raise InfrastructureError(f"no Docker engine to ask a registry through: {error}") from None
    try:
        return str(client.images.get_registry_data(f"{image}:{tag}").id)
    except docker.errors.NotFound as error:
        raise UsageError(f"the registry has no {image}:{tag}: {error.explanation}") from None
    except GONE as error:
        told = getattr(error, "explanation", None) or error
        raise InfrastructureError(
            f"the registry cannot be asked for {image}:{tag} ({told}); offline, give the digest yourself"
        ) from None
    finally:
        client.close()


def orphaned_containers() -> list[tuple[str, str, str]]:
    """(id, boot, owner) of every container that carries a boot's labels, on the environment's engine.

    Without an engine there are none to see.
    """
    with contextlib.suppress(*GONE):
        client = from_environment(10)
        try:
            found = client.containers.list(all=True, filters={"label": BOOT_LABEL})
            return [(str(c.id), c.labels[BOOT_LABEL], c.labels.get(OWNER_LABEL, "")) for c in found]
        finally:
            client.close()
    return []


def remove_container(identity: str) -> None:
    with contextlib.suppress(*GONE):
        client = from_environment(60)
        try:
            client.containers.get(identity).remove(force=True, v=True)
        finally:
            client.close()
