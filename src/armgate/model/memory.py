"""Memory as sampled: readings, what they come to, and the figures beside them that are not memory in use."""

from __future__ import annotations

from armgate.model.base import Frozen, Json


class GpuMemory(Frozen):
    """One accelerator's memory by its own driver, in bytes; `None` where it keeps none (unified memory)."""

    index: int
    used_bytes: int | None = None
    total_bytes: int | None = None


class MemorySample(Frozen):
    """One reading of a process tree and its host. Bytes; `None` where the reading was impossible."""

    at_s: float
    """On the machine's monotonic clock, by which gates and exchanges of one uptime are put in order."""
    processes: int
    rss_bytes: int | None
    available_bytes: int | None
    """The kernel's MemAvailable: on unified memory it is what accelerator and host have left together."""
    swap_used_bytes: int | None
    ranks: dict[str, int] = {}
    """RSS by process of the tree, under the name that it gives itself (`VLLM::EngineCore`)."""
    container_bytes: int | None = None
    """Of the server's control group, where it is not also this program's own."""
    gpus: tuple[GpuMemory, ...] | None = None
    """`None` where no driver answers."""


class MemorySummary(Frozen):
    """Memory as sampled over a boot or a gate: what lay between two readings is not known."""

    samples: int
    interval_s: float | None
    """Median distance of the readings, as it was and not as it was asked for."""
    rss_formula: str = "sum of resident set sizes over the process tree; shared pages count once per process"
    rss_peak_bytes: int | None = None
    rss_peak_at_s: float | None = None
    """Seconds since the first reading, like the other instants here."""
    rss_min_bytes: int | None = None
    rank_peak_bytes: dict[str, int] = {}
    """Each process's own highest RSS. They need not have been reached at one instant and are not added up."""
    container_peak_bytes: int | None = None
    gpu_peak_bytes: dict[str, int] | None = None
    """By accelerator index; `None` where no driver answered."""
    available_min_bytes: int | None = None
    available_min_at_s: float | None = None
    swap_peak_bytes: int | None = None
    processes_max: int = 0
    absent: str | None = None


class BootMemory(Frozen):
    """What a boot's memory was, beside what was reserved and what the weights weigh.

    Three different quantities: `observed` was read while the server ran, `configured` was asked for in its
    settings, `weight_file_bytes` lie on disk. No two of them add up to a peak.
    """

    observed: MemorySummary
    """Over the whole boot; each gate's own stands in its measurements."""
    configured: dict[str, Json] = {}
    weight_file_bytes: dict[str, int] = {}
    """By role (target, draft); only for models in a local folder."""
