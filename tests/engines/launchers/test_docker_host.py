"""What is asked of a short-lived container, with the SDK's client replaced: its time, its end, its words."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import docker
import pytest
import requests.exceptions

from armgate.engines.launchers.docker_host import DockerHost
from armgate.errors import BootError
from armgate.model.arms import ContainerLauncher

OPTIONS: dict[str, Any] = {"environment": {"HUB_TOKEN": "plain-value"}}


@pytest.fixture
def container() -> Mock:
    return Mock(spec=["start", "wait", "logs", "remove"])


@pytest.fixture
def host(container: Mock, monkeypatch: pytest.MonkeyPatch) -> DockerHost:
    client = Mock()
    client.api.base_url = "http://far:2375"
    client.containers.create.return_value = container
    monkeypatch.setattr(docker, "DockerClient", Mock(return_value=client))
    launcher = ContainerLauncher(kind="container", image="image", host="tcp://far:2375")
    return DockerHost(launcher, 7.0)


def test_a_container_that_does_not_end_is_given_up_in_time_and_removed(
    host: DockerHost, container: Mock
) -> None:
    container.wait.side_effect = requests.exceptions.ReadTimeout("Read timed out.")
    with pytest.raises(BootError, match="timed out") as caught:
        host.output("image", ["python"], OPTIONS)
    assert caught.value.cause == "engine_missing"
    container.wait.assert_called_once_with(timeout=7.0)
    container.remove.assert_called_once_with(force=True, v=True)


def test_what_a_container_prints_is_told_without_its_credentials(host: DockerHost, container: Mock) -> None:
    container.logs.return_value = b"password=hunter22 and plain-value\nTraceback" + b"." * 10_000
    with pytest.raises(BootError, match=r"password=\*{8} and \*{11}") as caught:
        host.output("image", ["python"], OPTIONS)
    assert "Traceback" in str(caught.value)
    assert len(str(caught.value)) < 3_000


def test_what_a_container_prints_is_read_as_json(host: DockerHost, container: Mock) -> None:
    container.logs.return_value = b'{"vllm": "0.32.0"}'
    assert host.output("image", ["python"], OPTIONS) == {"vllm": "0.32.0"}
    container.remove.assert_called_once_with(force=True, v=True)
