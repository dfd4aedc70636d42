"""What the machine is, as far as it can be read without privileges. No host names, no addresses."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import psutil

from armgate.model.base import Json


def hardware() -> dict[str, Json]:
    """Processor, cores and memory in bytes; accelerators are `unknown` unless their driver tells."""
    return {
        "machine": platform.machine(),
        "system": platform.system(),
        "kernel": platform.release(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_bytes": psutil.virtual_memory().total,
        "accelerators": _accelerators(),
    }


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return "unknown"
    for line in text.splitlines():
        if line.startswith(("model name", "Model name")):
            return line.partition(":")[2].strip()
    return "unknown"


def _accelerators() -> list[str] | str:
    folder = Path("/proc/driver/nvidia/gpus")
    if not folder.is_dir():
        return "unknown" if Path("/dev/kfd").exists() else []
    names = []
    for gpu in sorted(folder.iterdir()):
        text = (gpu / "information").read_text(errors="replace")
        names += [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("Model:")]
    return names
