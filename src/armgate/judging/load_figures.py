"""What requests under way together or on a schedule add: rates of a batch's window, lateness, both starts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from armgate.judging.figures import figures
from armgate.judging.rates import completion_count
from armgate.judging.request_metrics import server_times
from armgate.model.base import Json
from armgate.model.evidence import Sample

FORMULAS = {
    "lateness": "hand-over to the socket - scheduled instant",
    "ttft_scheduled": "TTFT + lateness",
    "ttft_beyond_server": "TTFT - (server's queue time + server's TTFT)",
    "queue_server": "server's queue time",
    "batch_window": "sum of N/(last text of the batch - its first hand-over)",
    "batch_overlap": "sum of the requests' own times/window",
}


class Window(NamedTuple):
    """One batch: its tokens by usage, its seconds, and the seconds of its requests added up."""

    tokens: int | None
    window_s: float
    busy_s: float


def load_figures(samples: Sequence[Sample], sent: Sequence[Sample]) -> dict[str, dict[str, Json]]:
    """Figures of one probe's samples by name; what no sample carries is left out.

    `sent` are all samples of the gate, also those that carry no figure: they were under way as well.
    """
    times = [(sample.response.timings.ttft_s, sample.exchange.clock.lateness_s) for sample in samples]
    found = {
        "lateness": [late for _, late in times],
        "ttft_scheduled": [ttft + late for ttft, late in times if ttft is not None],
        "ttft_beyond_server": [gap for gap in map(_beyond_server, samples) if gap is not None],
        "queue_server": [t.queue_s for t in map(server_times, samples) if t and t.queue_s is not None],
    }
    out = {name: figures(FORMULAS[name], "s", values) for name, values in found.items() if values}
    return out | _batch_figures(samples, sent)


def _batch_figures(samples: Sequence[Sample], sent: Sequence[Sample]) -> dict[str, dict[str, Json]]:
    """Only where requests were under way together: alone, the window is the request's own.

    A batch of which a member is missing here (void, cold, after a pause) would give the figure of fewer
    streams than were under way: it is named as absent.
    """
    batches = _batches([sample for sample in samples if _ends(sample) is not None])
    sizes = {number: _size(batch) for number, batch in _batches([*sent, *samples]).items()}
    together = {number: batch for number, batch in batches.items() if sizes[number] > 1}
    if not together:
        return {}
    found = [_window(batch) for number, batch in together.items() if len(batch) == sizes[number]]
    rates = [w.tokens / w.window_s for w in found if w.tokens is not None and w.window_s > 0]
    overlaps = [w.busy_s / w.window_s for w in found if w.window_s > 0]
    out = {
        "batch_window": figures(FORMULAS["batch_window"], "tok/s", rates),
        "batch_overlap": figures(FORMULAS["batch_overlap"], "streams", overlaps),
    }
    parts = [(n, len(batch), sizes[n]) for n, batch in together.items() if len(batch) < sizes[n]]
    if parts:
        absent = [f"batch {number[1]}: {there} of {size} streams" for number, there, size in parts]
        out = {name: {**one, "absent": absent} for name, one in out.items()}
    return out


def _batches(samples: Sequence[Sample]) -> dict[tuple[str, int], list[Sample]]:
    """Batches by probe and number, in the order sent, no sample twice."""
    found: dict[tuple[str, int], dict[str, Sample]] = {}
    for sample in samples:
        if sample.batch is not None:
            found.setdefault((sample.probe.id, sample.batch), {})[sample.id] = sample
    return {number: list(batch.values()) for number, batch in found.items()}


def _size(batch: Sequence[Sample]) -> int:
    """How many were to be under way together, whether or not all of them were sent."""
    probe = batch[0].probe
    return max(len(batch), probe.concurrency if probe.arrivals is None else probe.samples)


def _window(batch: Sequence[Sample]) -> Window:
    ends = [end for sample in batch if (end := _ends(sample)) is not None]
    counts = [completion_count(sample.response, sample.exchange.cap_tokens).tokens for sample in batch]
    tokens = None if None in counts else sum(count for count in counts if count is not None)
    window_s = max(end for _, end in ends) - min(start for start, _ in ends)
    return Window(tokens, window_s, math.fsum(end - start for start, end in ends))


def _ends(sample: Sample) -> tuple[float, float] | None:
    """Hand-over and last text on the machine's clock; the body's end where nothing was streamed."""
    zero_s, timings = sample.exchange.clock.zero_s, sample.response.timings
    last_s = timings.last_text_s if timings.last_text_s is not None else timings.wall_s
    return None if zero_s is None or last_s is None else (zero_s, zero_s + last_s)


def _beyond_server(sample: Sample) -> float | None:
    """What TTFT holds besides the server's own account: network, HTTP, tokenising, and our error."""
    times, ttft_s = server_times(sample), sample.response.timings.ttft_s
    if times is None or times.from_arrival_s is None or ttft_s is None:
        return None
    return ttft_s - times.from_arrival_s


def excluded(
    warm_ups: Sequence[Sample], cold: Sequence[Sample], after_pause: Sequence[Sample] = ()
) -> Mapping[str, Json]:
    """What is on file and in no figure, with the first-token times that were left out."""
    left_out = {"warm_ups": warm_ups, "cold": cold, "after_pause": after_pause}
    return {
        why: [{"sample": s.id, "ttft_s": s.response.timings.ttft_s} for s in samples]
        for why, samples in left_out.items()
    }
