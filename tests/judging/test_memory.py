from __future__ import annotations

from armgate.judging.memory import summarise_memory
from armgate.model.memory import GpuMemory, MemorySample


def sample(at_s: float, rss: int | None, available: int | None = 100, swap: int | None = 0) -> MemorySample:
    return MemorySample(
        at_s=at_s,
        processes=0 if rss is None else 2,
        rss_bytes=rss,
        available_bytes=available,
        swap_used_bytes=swap,
    )


def test_the_summary_names_the_extremes_and_when_they_were() -> None:
    readings = [sample(0.0, 10, 90), sample(1.0, 30, 70, 5), sample(2.1, 30, 60), sample(3.0, None, 95)]
    found = summarise_memory(reversed(readings))
    assert (found.rss_peak_bytes, found.rss_peak_at_s) == (30, 1.0)
    assert (found.available_min_bytes, found.available_min_at_s) == (60, 2.1)
    assert (found.swap_peak_bytes, found.samples, found.interval_s, found.processes_max) == (5, 4, 1.0, 2)
    assert "shared pages" in found.rss_formula


def test_nothing_seen_is_absent_and_not_zero() -> None:
    assert summarise_memory([]).absent == "no_reading"
    gone = summarise_memory([sample(0.0, None)])
    assert (gone.rss_peak_bytes, gone.absent, gone.available_min_bytes) == (None, "no_process_seen", 100)


def test_each_ranks_own_peak_is_kept_and_never_added_to_anothers() -> None:
    readings = [
        sample(0.0, 30).model_copy(update={"ranks": {"VLLM::Worker_TP0": 10, "VLLM::Worker_TP1": 20}}),
        sample(1.0, 30).model_copy(update={"ranks": {"VLLM::Worker_TP0": 25, "VLLM::Worker_TP1": 5}}),
    ]
    found = summarise_memory(readings)
    assert found.rank_peak_bytes == {"VLLM::Worker_TP0": 25, "VLLM::Worker_TP1": 20}
    assert found.rss_peak_bytes == 30


def test_an_accelerator_without_memory_of_its_own_is_not_a_zero() -> None:
    silent = sample(0.0, 1).model_copy(update={"gpus": (GpuMemory(index=0),)})
    told = sample(1.0, 1).model_copy(update={"gpus": (GpuMemory(index=0, used_bytes=7, total_bytes=9),)})
    assert summarise_memory([sample(0.0, 1)]).gpu_peak_bytes is None
    assert summarise_memory([silent]).gpu_peak_bytes == {}
    assert summarise_memory([silent, told]).gpu_peak_bytes == {"0": 7}
