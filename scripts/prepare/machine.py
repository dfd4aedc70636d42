"""What this machine can and cannot do, asked before a step starts rather than found out in its middle."""

from __future__ import annotations

import dataclasses
import importlib.util
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from prepare.refusal import Refusal

GB = 1_000_000_000
ENGINE_MACHINES = ("x86_64", "aarch64")
SMALL_PACKAGES = frozenset({"mdurl", "editables", "iniconfig"})


@dataclasses.dataclass(frozen=True)
class Needs:
    """What a step takes: disk in bytes below `folder`, the package index, the engine's processor.

    `sample` is a lock file; one small package of it is asked for to see whether the index answers.
    """

    folder: Path
    disk: int = 0
    venv: bool = False
    sample: Path | None = None
    engine: bool = False


def refuse_what_cannot_work(needs: Sequence[Needs]) -> None:
    """Raise a Refusal for the first thing that would stop one of the steps; cheap questions first."""
    if not needs:
        return
    refuse_system(platform.system())
    if any(need.engine for need in needs):
        refuse_processor(platform.machine(), _cpu_flags())
    if any(need.venv for need in needs):
        refuse_missing_venv(importlib.util.find_spec("ensurepip") is not None)
    folder = needs[0].folder
    refuse_full_disk(folder, free_bytes(folder), sum(need.disk for need in needs))
    sample = next((need.sample for need in needs if need.sample is not None), None)
    if sample is not None:
        refuse_silent_index(sample)


def refuse_system(system: str) -> None:
    if system != "Linux":
        raise Refusal(f"{system} is not supported: engines are watched the Linux way", "use Linux")


def refuse_processor(machine: str, flags: frozenset[str]) -> None:
    """vLLM's CPU wheels exist for two machines, and the x86_64 one needs AVX2."""
    if machine not in ENGINE_MACHINES:
        raise Refusal(f"vLLM's CPU build has no wheel for {machine}", f"use {' or '.join(ENGINE_MACHINES)}")
    if machine == "x86_64" and "avx2" not in flags:
        raise Refusal("this processor lacks AVX2, which vLLM's CPU build needs", "use a newer processor")


def refuse_missing_venv(there: bool) -> None:
    if not there:
        raise Refusal(
            f"{sys.executable} cannot make virtual environments: its module ensurepip is missing",
            "apt-get install python3-venv (Debian), then run this again",
        )


def refuse_full_disk(folder: Path, free: int, needed: int) -> None:
    if free < needed:
        raise Refusal(
            f"{folder} has {free / GB:.1f} GB free; the steps ahead take {needed / GB:.1f} GB",
            "free some space, or move the checkout to a larger disk",
        )


def refuse_silent_index(lock: Path) -> None:
    """Download one small package of `lock`, the way that the steps will download the others."""
    name, version = small_entry(lock)
    with tempfile.TemporaryDirectory(prefix="armgate-") as folder:
        argv = [*_pip(Path(folder)), "download", "-q", "--no-deps", "--no-cache-dir", "-d", folder]
        done = subprocess.run(
            [*argv, "--timeout", "10", "--retries", "1", f"{name}=={version}"],
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no answer"])[-1]
        raise Refusal(
            f"pip cannot download packages ({name} {version}): {last}",
            "check the network, or pip's own configuration (pip config list)",
        )


def _pip(folder: Path) -> list[str]:
    """This Python's pip, or that of a throw-away environment: Debian's Python may come without one."""
    python = sys.executable
    if importlib.util.find_spec("pip") is None:
        subprocess.run([python, "-m", "venv", folder / "pip"], check=True, stdout=subprocess.DEVNULL)
        python = str(folder / "pip" / "bin" / "python")
    return [python, "-m", "pip", "--no-input", "--disable-pip-version-check"]


def small_entry(lock: Path) -> tuple[str, str]:
    """Name and version of a package that every platform needs: a known small one, else the last."""
    unconditional = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+) \\$", re.M)
    entries: list[tuple[str, str]] = unconditional.findall(lock.read_text())
    if not entries:
        raise Refusal(f"{lock} holds no pinned package", "restore the file from git")
    return next((entry for entry in entries if entry[0] in SMALL_PACKAGES), entries[-1])


def refuse_little_memory(available: int, needed: int) -> None:
    if available < needed:
        raise Refusal(
            f"{available / GB:.1f} GB of memory are free; an arm takes about {needed / GB:.0f} GB",
            "end other programs, or use a machine with more memory",
        )


def available_memory() -> int:
    """Bytes that a program could take without swapping, as the kernel estimates it."""
    match = re.search(r"^MemAvailable:\s*(\d+) kB$", Path("/proc/meminfo").read_text(), re.M)
    return int(match.group(1)) * 1024 if match else 0


def free_bytes(folder: Path) -> int:
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    return shutil.disk_usage(existing).free


def _cpu_flags() -> frozenset[str]:
    match = re.search(r"^flags\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    return frozenset(match.group(1).split()) if match else frozenset()
