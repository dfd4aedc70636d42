"""The order in which a probe's requests are sent: batches that are released together, or on a schedule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from armgate.model.gates import Probe


class Batch(NamedTuple):
    """Requests that are under way together. `offsets_s` count from the batch's release."""

    role: str
    numbers: tuple[int, ...]
    offsets_s: tuple[float, ...]


def batches(probe: Probe, repeats: bool) -> Iterator[Batch]:
    """Warm-ups, then samples; where `repeats`, each batch of samples is sent once more right after it."""
    for numbers in _groups(probe.warm_up, probe.concurrency):
        yield Batch("warm_up", numbers, (0.0,) * len(numbers))
    if probe.arrivals is not None:
        whole = tuple(range(probe.samples))
        samples = [Batch("sample", whole, probe.arrivals.offsets_s(probe.samples))]
    else:
        groups = _groups(probe.samples, probe.concurrency)
        samples = [Batch("sample", numbers, (0.0,) * len(numbers)) for numbers in groups]
    for batch in samples:
        yield batch
        if repeats:
            yield batch._replace(role="repeat")


def _groups(n: int, size: int) -> list[tuple[int, ...]]:
    return [tuple(range(start, min(start + size, n))) for start in range(0, n, size)]
