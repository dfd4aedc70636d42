"""Acceptance as a server's log tells it: a second path beside the counters, with its definition."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from armgate.model.measures import Acceptance, SourcedAcceptance
from armgate.model.outcome import Finding

TOLERANCE = 0.02
"""Log lines are rounded and printed at intervals that do not begin and end with a gate."""

_VLLM = re.compile(
    r"SpecDecoding metrics: Mean acceptance length: (?P<length>[\d.]+).*?"
    r"Accepted: (?P<accepted>\d+) tokens, Drafted: (?P<drafted>\d+) tokens"
)
_VLLM_V0 = re.compile(r"Speculative metrics: Draft acceptance rate: (?P<rate>[\d.]+)")
_SGLANG = re.compile(r"accept len: (?P<length>[\d.]+), accept rate: (?P<rate>[\d.]+)")


def logged_acceptance(lines: Iterable[str]) -> tuple[SourcedAcceptance, ...]:
    """What the log of a server says about acceptance, one entry for each kind of line that it has.

    vLLM prints totals since its last such line, so they add up. Its older line also counted matches after
    the first wrong token. SGLang prints a gauge of the current batch: only its range is kept beside the mean.
    """
    seen = list(lines)
    found = (_of_vllm(seen), _of_vllm_v0(seen), _of_sglang(seen))
    return tuple(one for one in found if one is not None)


def from_counters(acceptance: Acceptance) -> SourcedAcceptance:
    """The counters' acceptance in the form that sources are compared in."""
    return SourcedAcceptance(
        source=acceptance.source,
        definition="accepted_prefix",
        n=acceptance.drafts,
        rate=acceptance.rate.value,
        length=acceptance.mean_length.value,
    )


def reported(source: str, rate: float | None, length: float | None) -> SourcedAcceptance:
    """A per-request report. A length below 1 is impossible, as each step yields a token: no figure then."""
    if length is not None and length < 1:
        absent = f"not reported: a rate of {rate} with a length of {length:g}"
        return SourcedAcceptance(source=source, definition="accepted_prefix", n=1, absent=absent)
    return SourcedAcceptance(source=source, definition="accepted_prefix", n=1, rate=rate, length=length)


def conflict(sources: Sequence[SourcedAcceptance]) -> Finding | None:
    """A finding where sources of one definition disagree, or one reports nothing beside another's figure.

    Figures of unlike definitions are shown and never set against each other.
    """
    figures = [one for one in sources if one.rate is not None]
    silent = [one for one in sources if one.absent is not None]
    rates = [one.rate for one in figures if one.rate is not None and one.definition == "accepted_prefix"]
    apart = len(rates) > 1 and max(rates) - min(rates) > TOLERANCE
    if not apart and not (silent and figures):
        return None
    told = [f"{one.source} ({one.definition}): rate {one.rate:.3g}, n = {one.n}" for one in figures]
    told += [f"{one.source}: {one.absent}" for one in silent]
    return Finding(kind="acceptance_sources_conflict", message="; ".join(told))


def _of_vllm(lines: Sequence[str]) -> SourcedAcceptance | None:
    found = [match for line in lines if (match := _VLLM.search(line))]
    drafted = sum(int(match["drafted"]) for match in found)
    if not drafted:
        return None
    lengths = [float(match["length"]) for match in found]
    return SourcedAcceptance(
        source="server log, totals by interval",
        definition="accepted_prefix",
        n=len(found),
        rate=sum(int(match["accepted"]) for match in found) / drafted,
        by_interval=True,
        length_low=min(lengths),
        length_high=max(lengths),
    )


def _of_vllm_v0(lines: Sequence[str]) -> SourcedAcceptance | None:
    rates = [float(match["rate"]) for line in lines if (match := _VLLM_V0.search(line))]
    if not rates:
        return None
    return SourcedAcceptance(
        source="server log, older engine", definition="all_matches", n=len(rates), rate=rates[-1]
    )


def _of_sglang(lines: Sequence[str]) -> SourcedAcceptance | None:
    found = [match for line in lines if (match := _SGLANG.search(line))]
    if not found:
        return None
    lengths, rates = ([float(match[name]) for match in found] for name in ("length", "rate"))
    return SourcedAcceptance(
        source="server log, gauge of the running batch",
        definition="batch_gauge",
        n=len(found),
        rate=sum(rates) / len(rates),
        length=sum(lengths) / len(lengths),
        length_low=min(lengths),
        length_high=max(lengths),
    )
