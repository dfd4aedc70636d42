"""The driver's library, as a stand-in that refuses what a unified-memory machine refuses."""

from types import SimpleNamespace
from typing import Any

from armgate.telemetry.nvml import Nvml


class Library:
    NVML_CLOCK_SM = 1
    NVML_CLOCK_MEM = 2

    def __init__(self, unified: bool) -> None:
        self.unified = unified
        self.nvmlClocksThrottleReasonGpuIdle = 1
        self.nvmlClocksThrottleReasonSwPowerCap = 4
        self.nvmlClocksThrottleReasonHwThermalSlowdown = 64

    def nvmlInit(self) -> None: ...  # noqa: N802

    def nvmlSystemGetDriverVersion(self) -> bytes:  # noqa: N802
        return b"580.95.05"

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return 1

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:  # noqa: N802
        return index

    def nvmlDeviceGetName(self, handle: int) -> str:  # noqa: N802
        return "NVIDIA GB10"

    def nvmlDeviceGetMemoryInfo(self, handle: int) -> Any:  # noqa: N802
        if self.unified:
            raise RuntimeError("Not Supported")
        return SimpleNamespace(used=7, total=9)

    def nvmlDeviceGetClockInfo(self, handle: int, kind: int) -> int:  # noqa: N802
        return {1: 2418, 2: 9000}[kind]

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle: int) -> int:  # noqa: N802
        return 1 | 4


def opened(unified: bool) -> Nvml:
    found = Nvml.open(lambda name: Library(unified))
    assert found is not None
    return found


def test_memory_in_use_is_told_where_the_accelerator_has_its_own() -> None:
    (gpu,) = opened(unified=False).memory()
    assert (gpu.used_bytes, gpu.total_bytes) == (7, 9)
    (unified,) = opened(unified=True).memory()
    assert (unified.used_bytes, unified.total_bytes) == (None, None)


def test_state_names_what_throttles_and_says_unknown_where_the_driver_refuses() -> None:
    state = opened(unified=True).state()
    (gpu,) = state["gpus"]
    assert (state["driver"], gpu["model"], gpu["sm_clock_mhz"]) == ("580.95.05", "NVIDIA GB10", 2418)
    assert gpu["throttled_by"] == ["SwPowerCap"]
    assert (gpu["memory_total_bytes"], gpu["power_cap_mw"], gpu["pcie_width"]) == ("unknown",) * 3


def test_without_the_package_or_the_driver_nothing_answers() -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(name)

    assert Nvml.open(missing) is None
