"""What a trace of memory readings comes to: peaks and minima, and when they were."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterable, Mapping, Sequence

from armgate.model.arms import Arm, AttachLauncher
from armgate.model.base import Json
from armgate.model.memory import MemorySample, MemorySummary

SETTINGS = (
    "kv_cache_memory_bytes",
    "gpu_memory_utilization",
    "swap_space",
    "cpu_offload_gb",
    "mem_fraction_static",
    "max_total_tokens",
    "VLLM_CPU_KVCACHE_SPACE",
)
"""Settings of vLLM and SGLang that reserve or limit memory, as they are written in a campaign."""


def configured(arm: Arm) -> dict[str, Json]:
    """What an arm's settings ask for in memory: reservations, never what was in use."""
    environment = {} if isinstance(arm.launcher, AttachLauncher) else arm.launcher.env
    asked = {**arm.serve, **environment}
    return {name: asked[name] for name in SETTINGS if name in asked}


def summarise_memory(samples: Iterable[MemorySample]) -> MemorySummary:
    """Peak RSS and swap and lowest MemAvailable over the readings, with the instants of the extremes."""
    seen = sorted(samples, key=lambda sample: sample.at_s)
    if not seen:
        return MemorySummary(samples=0, interval_s=None, absent="no_reading")
    gaps = [later.at_s - earlier.at_s for earlier, later in itertools.pairwise(seen)]
    rss = [(s.rss_bytes, s.at_s) for s in seen if s.rss_bytes is not None]
    available = [(s.available_bytes, s.at_s) for s in seen if s.available_bytes is not None]
    peak_bytes, peak_at_s = max(rss, key=lambda reading: reading[0], default=(None, None))
    floor_bytes, floor_at_s = min(available, default=(None, None))
    began_s = seen[0].at_s
    return MemorySummary(
        samples=len(seen),
        interval_s=round(statistics.median(gaps), 3) if gaps else None,
        rss_peak_bytes=peak_bytes,
        rss_peak_at_s=_since(began_s, peak_at_s),
        rss_min_bytes=min((size for size, _ in rss), default=None),
        rank_peak_bytes=_peaks(one.ranks for one in seen),
        container_peak_bytes=max(
            (s.container_bytes for s in seen if s.container_bytes is not None), default=None
        ),
        gpu_peak_bytes=_gpu_peaks(seen),
        available_min_bytes=floor_bytes,
        available_min_at_s=_since(began_s, floor_at_s),
        swap_peak_bytes=max((s.swap_used_bytes for s in seen if s.swap_used_bytes is not None), default=None),
        processes_max=max(sample.processes for sample in seen),
        absent=None if peak_bytes is not None else "no_process_seen",
    )


def _since(began_s: float, at_s: float | None) -> float | None:
    return None if at_s is None else round(at_s - began_s, 3)


def _peaks(readings: Iterable[Mapping[str, int]]) -> dict[str, int]:
    peaks: dict[str, int] = {}
    for reading in readings:
        for name, size in reading.items():
            peaks[name] = max(size, peaks.get(name, 0))
    return peaks


def _gpu_peaks(seen: Sequence[MemorySample]) -> dict[str, int] | None:
    answered = [one.gpus for one in seen if one.gpus is not None]
    if not answered:
        return None
    known = ({str(g.index): g.used_bytes for g in gpus if g.used_bytes is not None} for gpus in answered)
    return _peaks(known)
