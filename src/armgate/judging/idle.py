"""Requests that seem to have paid for loading a model or for a compilation, besides for their answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from armgate.model.evidence import Sample
from armgate.model.outcome import Finding

PAUSE_S = 60.0
"""A shorter pause unloads nothing: servers that unload an idle model wait minutes (Ollama: five)."""

SLOWER = 5.0
"""How many times the TTFT of requests that followed at once makes a suspect of one that did not."""


def load_suspects(
    ttfts_s: Sequence[float], pauses_s: Sequence[float], pause_s: float = PAUSE_S
) -> tuple[int, ...]:
    """Indices of requests, in the order sent, whose TTFT is probably that of loading the model.

    `pauses_s[i]` is how long the server had nothing to do before request `i`. The first request and those
    after a pause of `pause_s` are compared with the median of the others; without others none is suspect.
    """
    after_pause = [i for i, pause in enumerate(pauses_s) if i == 0 or pause >= pause_s]
    others = [ttft_s for i, ttft_s in enumerate(ttfts_s) if i not in after_pause]
    if not others:
        return ()
    usual_s = median(others)
    return tuple(i for i in after_pause if ttfts_s[i] > SLOWER * usual_s)


def after_pause(samples: Sequence[Sample]) -> list[Sample]:
    """Suspects among samples of several probes, each compared with its own."""
    probes = dict.fromkeys(sample.probe.id for sample in samples)
    return [s for probe in probes for s in _of_probe([s for s in samples if s.probe.id == probe])]


def _of_probe(samples: Sequence[Sample]) -> list[Sample]:
    """Suspects of one probe. Where a clock is unknown nothing is told.

    A probe's first sample is one only as the boot's first request: else it may be slow for want of a cache.
    """
    timed = [
        (sample, zero_s, ttft_s)
        for sample in samples
        if (zero_s := sample.exchange.clock.zero_s) is not None
        and (ttft_s := sample.response.timings.ttft_s) is not None
    ]
    timed.sort(key=lambda one: one[1])
    pauses, free_s = [], None
    for sample, zero_s, _ in timed:
        pauses.append(0.0 if free_s is None else max(0.0, zero_s - free_s))
        free_s = max(free_s or zero_s, zero_s + (sample.exchange.clock.end_s or 0.0))
    suspects = load_suspects([ttft_s for *_, ttft_s in timed], pauses)
    return [timed[i][0] for i in suspects if i or timed[i][0].cold]


def compilations(samples: Sequence[Sample]) -> Iterable[Finding]:
    """Samples whose time may hold a compilation of the engine's. They stay in the figures, and are named."""
    for sample in samples:
        if sample.compiled is not None and not sample.cold:
            message = f"{sample.id}: the engine compiled meanwhile: {sample.compiled}"
            yield Finding(kind="compiled_during_request", message=message, evidence=(sample.path,))
