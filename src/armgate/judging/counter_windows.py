"""How counters and gauges moved while a gate ran, from reading to reading; its mean stands elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from armgate.judging.counters import GAUGES, as_traced, counter_deltas, gauge
from armgate.model.evidence import CounterReading, Counters
from armgate.model.measures import Acceptance, AcceptanceRange, GaugeRange


def acceptance_range(readings: Sequence[Counters]) -> AcceptanceRange:
    """Lowest and highest acceptance between neighbouring readings, over those in which drafts were made."""
    traced = [as_traced(one) for one in readings]
    gained = [counter_deltas(earlier, later) for earlier, later in pairwise(traced)]
    active = [one.acceptance for one in gained if one.acceptance is not None and one.acceptance.drafts > 0]
    if len(active) < 2:
        absent = "fewer than two readings with drafts between them"
        return AcceptanceRange(windows=len(active), absent=absent)
    rates = [one.rate.value for one in active if one.rate.value is not None]
    lengths = [one.mean_length.value for one in active if one.mean_length.value is not None]
    return AcceptanceRange(
        windows=len(active),
        rate_low=min(rates, default=None),
        rate_high=max(rates, default=None),
        length_low=min(lengths, default=None),
        length_high=max(lengths, default=None),
    )


def gauge_ranges(readings: Sequence[Counters]) -> dict[str, GaugeRange]:
    """Every gauge that the server has, over all readings. A gauge is a reading and no mean of anything."""
    seen = {name: [gauge(one, name) for one in readings if one.available] for name in sorted(GAUGES)}
    known = {name: [value for value in values if value is not None] for name, values in seen.items()}
    return {
        name: GaugeRange(readings=len(values), low=min(values), high=max(values))
        for name, values in known.items()
        if values and name != "finished_generation_tokens"
    }


def acceptance_by_probe(
    before: Counters | None, during: Sequence[CounterReading]
) -> Mapping[str, Acceptance]:
    """Acceptance of each probe, from the readings at rest between probes; empty where there are none."""
    found: dict[str, Acceptance] = {}
    last = None if before is None else as_traced(before)
    for reading in during:
        if reading.after_probe is None:
            continue
        current = as_traced(reading.counters)
        gained = counter_deltas(last, current)
        last = current
        if gained.acceptance is not None and gained.acceptance.drafts > 0:
            found[reading.after_probe] = gained.acceptance
    return found
