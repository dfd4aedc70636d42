"""The namespaces and process tiers where the host denies them, and what a start that fails says."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import psutil
import pytest

from armgate.errors import SandboxUnavailable
from armgate.execution import namespaces, process
from armgate.execution.channels import ChannelClosed, ChannelSilent, ProcessChannel
from armgate.execution.harness import Harness
from armgate.execution.namespaces import NamespacesTier
from armgate.execution.process import ProcessTier
from armgate.execution.wire import CaseRequest
from armgate.model.execution import Limits


def test_without_bubblewrap_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, harness: Harness) -> None:
    monkeypatch.setattr(namespaces.shutil, "which", lambda _: None)
    with pytest.raises(SandboxUnavailable, match="apt-get install bubblewrap"):
        NamespacesTier(harness)


@pytest.fixture
def refusing_bwrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(namespaces.shutil, "which", lambda _: str(program))


@pytest.mark.usefixtures("refusing_bwrap")
def test_where_namespaces_are_denied_it_says_what_was_answered_and_what_to_do(harness: Harness) -> None:
    groups = set(Path("/sys/fs/cgroup").glob(f"**/armgate-{os.getpid()}-*"))
    with pytest.raises(SandboxUnavailable) as refused:
        NamespacesTier(harness).start(Limits())
    assert "bwrap: No permissions to create new namespace" in str(refused.value)
    assert "kernel.apparmor_restrict_unprivileged_userns" in str(refused.value)
    assert set(Path("/sys/fs/cgroup").glob(f"**/armgate-{os.getpid()}-*")) == groups


def test_a_kernel_without_landlock_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The harness reports it in its greeting; here a harness that always does."""
    source = """
import json, os, struct
def main(config):
    body = json.dumps({"failed": "Landlock is not available"}).encode()
    os.write(1, struct.pack(">BI", 0, len(body)) + body)
"""
    said = Harness((("zygote", source),), "sha256:" + "0" * 64)
    before = _scratch_folders()
    with pytest.raises(SandboxUnavailable, match="could not settle: Landlock is not available"):
        ProcessTier(said).start(Limits())
    assert _scratch_folders() <= before


def _scratch_folders() -> set[Path]:
    folders = (Path(tempfile.gettempdir()), Path("/dev/shm"))
    return {path for folder in folders for path in folder.glob(f"armgate-{os.getpid()}-*")}


def test_scratch_is_on_a_disk_where_memory_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "SHARED_MEMORY", Path("/nonexistent"))
    assert process._scratch_parent(1) is None
    monkeypatch.setattr(process, "SHARED_MEMORY", Path(tempfile.gettempdir()))
    assert process._scratch_parent(1 << 60) is None
    assert process._scratch_parent(1) == Path(tempfile.gettempdir())


def test_a_process_that_ends_is_closed_and_one_that_waits_is_silent() -> None:
    ending = ProcessChannel(["/bin/sh", "-c", "echo gone >&2"], {})
    with pytest.raises(ChannelClosed):
        ending.receive(time.monotonic() + 10)
    assert ending.last_words() == "gone"
    ending.close()
    waiting = ProcessChannel(["/bin/sleep", "60"], {})
    with pytest.raises(ChannelSilent):
        waiting.receive(time.monotonic() + 0.05)
    with pytest.raises(ChannelSilent):
        waiting.send(bytes(1 << 20), time.monotonic() + 0.05)
    waiting.close()
    assert not Path(f"/proc/{waiting.process.pid}").exists()


@pytest.mark.parametrize("tier", [ProcessTier, NamespacesTier])
def test_a_sandbox_is_closed_at_once_even_in_the_middle_of_a_case(
    tier: type[ProcessTier] | type[NamespacesTier],
    harness: Harness,
    unavailable: Callable[[str, str], NoReturn],
) -> None:
    try:
        sandbox = tier(harness).start(Limits())
    except SandboxUnavailable as error:
        unavailable("sandbox", str(error))
    text = b"while True: pass"
    endless = CaseRequest(kind="function", text=text, seal="", entry="f", arguments=[], cpu_s=60)
    sandbox._channel.send(endless.encoded(0, 0), time.monotonic() + 10)
    time.sleep(0.1)
    leader = sandbox._channel.process.pid
    members = [process for process in psutil.process_iter() if _session(process) == leader]
    assert members
    begun = time.monotonic()
    sandbox.close()
    assert time.monotonic() - begun < 1.0
    assert not [process for process in members if process.is_running()]


def _session(process: psutil.Process) -> int | None:
    try:
        return os.getsid(process.pid)
    except ProcessLookupError:
        return None
