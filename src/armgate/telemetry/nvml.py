"""What NVIDIA's driver tells through its management library, where the package and the driver are there.

Needs `nvidia-ml-py` (the extra `gpu`). Every figure that the driver refuses is `unknown`: on unified-memory
machines it keeps no memory of its own, and MemAvailable is then the figure to look at.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

from armgate.model.base import Json
from armgate.model.memory import GpuMemory

UNKNOWN = "unknown"


class Nvml:
    """The opened library. `open` gives `None` where there is no package or no driver."""

    def __init__(self, library: Any) -> None:
        self._library = library

    @classmethod
    def open(cls, load: Callable[[str], ModuleType | Any] = importlib.import_module) -> Nvml | None:
        try:
            library = load("pynvml")
            library.nvmlInit()
        except Exception:  # no package, no driver, a driver of another version: all mean that none answers
            return None
        return cls(library)

    def memory(self) -> tuple[GpuMemory, ...]:
        """Used and whole memory of each accelerator."""
        return tuple(self._memory_of(index) for index in range(self._count()))

    def state(self) -> dict[str, Json]:
        """Driver, and of each accelerator: model, clocks, power caps, throttling, links."""
        return {
            "driver": self._text("nvmlSystemGetDriverVersion"),
            "gpus": [self._state_of(index) for index in range(self._count())],
        }

    def _count(self) -> int:
        count = self._ask("nvmlDeviceGetCount")
        return count if isinstance(count, int) else 0

    def _memory_of(self, index: int) -> GpuMemory:
        info = self._ask("nvmlDeviceGetMemoryInfo", index)
        if info == UNKNOWN:
            return GpuMemory(index=index)
        return GpuMemory(index=index, used_bytes=int(info.used), total_bytes=int(info.total))

    def _state_of(self, index: int) -> dict[str, Json]:
        return {
            "index": index,
            "model": self._text("nvmlDeviceGetName", index),
            "memory_total_bytes": self._memory_of(index).total_bytes or UNKNOWN,
            "sm_clock_mhz": self._ask("nvmlDeviceGetClockInfo", index, "NVML_CLOCK_SM"),
            "sm_clock_max_mhz": self._ask("nvmlDeviceGetMaxClockInfo", index, "NVML_CLOCK_SM"),
            "memory_clock_mhz": self._ask("nvmlDeviceGetClockInfo", index, "NVML_CLOCK_MEM"),
            "power_cap_mw": self._ask("nvmlDeviceGetPowerManagementLimit", index),
            "power_cap_default_mw": self._ask("nvmlDeviceGetPowerManagementDefaultLimit", index),
            "temperature_c": self._ask("nvmlDeviceGetTemperature", index, "NVML_TEMPERATURE_GPU"),
            "throttled_by": self._throttled(index),
            "pcie_generation": self._ask("nvmlDeviceGetCurrPcieLinkGeneration", index),
            "pcie_width": self._ask("nvmlDeviceGetCurrPcieLinkWidth", index),
        }

    def _throttled(self, index: int) -> list[str] | str:
        """Names of the reasons that are set, idling not among them."""
        bits = self._ask("nvmlDeviceGetCurrentClocksThrottleReasons", index)
        if not isinstance(bits, int):
            return UNKNOWN
        start = "nvmlClocksThrottleReason"
        masks = {name.removeprefix(start): mask for name, mask in vars(self._library).items()
                 if name.startswith(start) and isinstance(mask, int) and mask}  # fmt: skip
        return sorted(name for name, mask in masks.items() if bits & mask == mask and name not in _IDLE)

    def _text(self, function: str, index: int | None = None) -> str:
        """Older packages answer with bytes."""
        said = self._ask(function, index)
        return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)

    def _ask(self, function: str, index: int | None = None, *constants: str) -> Any:
        lib = self._library
        try:
            handle = () if index is None else (lib.nvmlDeviceGetHandleByIndex(index),)
            return getattr(lib, function)(*handle, *(getattr(lib, name) for name in constants))
        except Exception:  # NVMLError has a class for each refusal, and older libraries lack functions
            return UNKNOWN


_IDLE = frozenset({"GpuIdle", "ApplicationsClocksSetting", "None", "All"})
