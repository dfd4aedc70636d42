"""What the machine is, as far as it can be read without privileges. No host names, no addresses."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import psutil

from armgate.model.base import Json

UNKNOWN = "unknown"


def hardware(accelerators: Json = None, nodes: int = 1, root: Path = Path("/")) -> dict[str, Json]:
    """Processor with clocks and governor, memory in bytes, accelerators, interconnect, nodes.

    `accelerators` is what their driver tells, `None` where none answered. What cannot be read is `unknown`.
    The figures are of this machine: of other nodes only their number is known.
    """
    return {
        "machine": platform.machine(),
        "system": platform.system(),
        "kernel": platform.release(),
        "processor": _processor(root),
        "cores": os.cpu_count(),
        "clock_max_khz": _number(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq"),
        "clock_governor": _line(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "memory_bytes": psutil.virtual_memory().total,
        "swap_bytes": psutil.swap_memory().total,
        "nodes": nodes,
        "accelerators": accelerators if accelerators is not None else _accelerators(root),
        "interconnect": _interconnect(root),
    }


def _processor(root: Path) -> str:
    try:
        text = (root / "proc/cpuinfo").read_text()
    except OSError:
        return UNKNOWN
    for line in text.splitlines():
        if line.startswith(("model name", "Model name")):
            return line.partition(":")[2].strip()
    return UNKNOWN


def _accelerators(root: Path) -> list[str] | str:
    """Models by the kernel driver's own files, for where its management library is not there."""
    folder = root / "proc/driver/nvidia/gpus"
    if not folder.is_dir():
        return UNKNOWN if (root / "dev/kfd").exists() or (root / "dev/nvidiactl").exists() else []
    names = []
    for gpu in sorted(folder.iterdir()):
        text = (gpu / "information").read_text(errors="replace")
        names += [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("Model:")]
    return names


def _interconnect(root: Path) -> list[dict[str, str]] | str:
    """Ports of remote-DMA devices: InfiniBand, or Ethernet for RoCE, with their rate; none is an answer."""
    folder = root / "sys/class/infiniband"
    if not (root / "sys/class").is_dir():
        return UNKNOWN
    ports = sorted(folder.glob("*/ports/*")) if folder.is_dir() else []
    return [
        {"port": f"{port.parts[-3]}/{port.name}", "layer": _line(port / "link_layer"),
         "rate": _line(port / "rate"), "state": _line(port / "state")}
        for port in ports
    ]  # fmt: skip


def _line(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip() or UNKNOWN
    except OSError:
        return UNKNOWN


def _number(path: Path) -> int | str:
    text = _line(path)
    return int(text) if text.isdecimal() else UNKNOWN
