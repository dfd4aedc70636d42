from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from armgate.model.memory import MemorySample
from armgate.telemetry.process_memory import MemoryTrace, container_bytes, load_trace, read_memory

MB = 1024 * 1024


def sample(at_s: float, rss: int | None, available: int | None = 100, swap: int | None = 0) -> MemorySample:
    return MemorySample(
        at_s=at_s,
        processes=0 if rss is None else 2,
        rss_bytes=rss,
        available_bytes=available,
        swap_used_bytes=swap,
    )


def test_a_reading_covers_the_children_of_the_process() -> None:
    alone = read_memory(os.getpid(), 0.0)
    code = f"data = bytearray({64 * MB}); print('ready', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        together = read_memory(os.getpid(), 1.0)
        child.communicate(b"\n")
    assert alone.rss_bytes is not None
    assert together.rss_bytes is not None
    assert together.processes == alone.processes + 1
    assert together.rss_bytes - alone.rss_bytes > 60 * MB
    assert together.available_bytes is not None
    assert together.available_bytes > 0


def test_a_process_that_is_gone_has_no_size() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        child.wait()
    reading = read_memory(child.pid, 0.0)
    assert (reading.processes, reading.rss_bytes) == (0, None)
    assert reading.available_bytes is not None


@pytest.mark.anyio
async def test_a_trace_writes_its_readings_from_entry_to_exit(tmp_path: Path) -> None:
    path = tmp_path / "telemetry" / "memory.jsonl"
    async with MemoryTrace(os.getpid(), path, 0.02) as trace:
        await asyncio.sleep(0.2)
    with path.open() as lines:
        written = load_trace(lines)
    assert written == trace.samples
    assert len(written) >= 4
    began_s = written[0].at_s
    assert written[-1].at_s - began_s >= 0.2
    assert [s.at_s for s in written] == sorted(s.at_s for s in written)


@pytest.mark.anyio
async def test_lines_are_on_disk_while_the_trace_runs(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    async with MemoryTrace(os.getpid(), path, 60.0):
        assert len(path.read_text().splitlines()) == 1


@pytest.mark.anyio
async def test_a_trace_never_writes_into_another_boots_file(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_text("")
    with pytest.raises(FileExistsError):
        async with MemoryTrace(os.getpid(), path, 1.0):
            pass


@pytest.mark.anyio
async def test_what_the_block_raises_comes_through_and_the_trace_ends(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    with pytest.raises(KeyError):
        async with MemoryTrace(os.getpid(), path, 0.01):
            raise KeyError("boot")
    count = len(path.read_text().splitlines())
    await asyncio.sleep(0.05)
    assert len(path.read_text().splitlines()) == count == 2


def test_an_interval_that_is_not_positive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="positive"):
        MemoryTrace(1, tmp_path / "memory.jsonl", 0.0)


def test_a_torn_last_line_is_left_out() -> None:
    whole = sample(0.0, 10).model_dump_json()
    assert load_trace([whole + "\n", whole[:-9]]) == [sample(0.0, 10)]
    assert load_trace([]) == []


def test_ranks_are_told_by_the_names_that_processes_give_themselves() -> None:
    code = "import time; time.sleep(60)"
    names = ["VLLM::Worker_TP0", "VLLM::Worker_TP1", "VLLM::Worker_TP1"]
    children = [subprocess.Popen([name, "-c", code], executable=sys.executable) for name in names]
    try:
        ranks = read_memory(os.getpid(), 0.0).ranks
    finally:
        for child in children:
            child.kill()
            child.wait()
    assert {"VLLM::Worker_TP0", "VLLM::Worker_TP1", "VLLM::Worker_TP1#2"} <= ranks.keys()
    assert all(size > 0 for size in ranks.values())


@pytest.mark.parametrize(
    ("version", "line", "file"),
    [
        (2, "0::/docker/abc", "docker/abc/memory.current"),
        (1, "4:memory:/docker/abc", "memory/docker/abc/memory.usage_in_bytes"),
    ],
)
def test_a_containers_memory_is_its_groups_own(tmp_path: Path, version: int, line: str, file: str) -> None:
    groups, proc = tmp_path / "cgroup", tmp_path / "proc"
    (groups / file).parent.mkdir(parents=True)
    (groups / file).write_text("12345\n")
    if version == 2:
        (groups / "cgroup.controllers").write_text("memory\n")
    for process, own in (("7", line), ("self", line.replace("/docker/abc", "/user"))):
        (proc / process).mkdir(parents=True)
        (proc / process / "cgroup").write_text(own + "\n")
    assert container_bytes(7, proc, groups) == 12345
    (proc / "self" / "cgroup").write_text(line + "\n")
    assert container_bytes(7, proc, groups) is None
