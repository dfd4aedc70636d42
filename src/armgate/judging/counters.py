"""What a server's counters gained over a gate: acceptance, tokens, finished requests, resets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from armgate.model.evidence import Counters
from armgate.model.measures import Acceptance, CounterDeltas, Measure

NAMES: dict[str, tuple[str, ...]] = {
    "drafts": ("vllm:spec_decode_num_drafts",),
    "draft_tokens": ("vllm:spec_decode_num_draft_tokens",),
    "accepted_tokens": ("vllm:spec_decode_num_accepted_tokens",),
    "accepted_per_position": ("vllm:spec_decode_num_accepted_tokens_per_pos",),
    "prompt_tokens": ("vllm:prompt_tokens", "sglang:prompt_tokens", "llamacpp:prompt_tokens"),
    "generation_tokens": ("vllm:generation_tokens", "sglang:generation_tokens", "llamacpp:tokens_predicted"),
    "cached_tokens": (
        "vllm:prompt_tokens_cached",
        "vllm:prefix_cache_hits",
        "vllm:gpu_prefix_cache_hits",
        "sglang:cached_tokens",
    ),
    "preemptions": ("vllm:num_preemptions",),
    "ttft_s": ("vllm:time_to_first_token_seconds_sum", "sglang:time_to_first_token_seconds_sum"),
    "first_tokens": ("vllm:time_to_first_token_seconds_count", "sglang:time_to_first_token_seconds_count"),
    "queue_s": ("vllm:request_queue_time_seconds_sum", "sglang:queue_time_seconds_sum"),
    "finished": ("vllm:request_success", "sglang:num_requests"),
    "running": ("vllm:num_requests_running", "sglang:num_running_reqs", "llamacpp:requests_processing"),
    "waiting": ("vllm:num_requests_waiting", "sglang:num_queue_reqs", "llamacpp:requests_deferred"),
    "finished_generation_tokens": ("vllm:request_generation_tokens_sum",),
    "kv_cache_usage": ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "sglang:token_usage"),
    "accept_length_gauge": ("sglang:spec_accept_length",),
    "accept_rate_gauge": ("sglang:spec_accept_rate",),
}
"""Canonical name -> series names, the newest first. Each is also known with `_total`. Never added up."""

GAUGES = frozenset(
    {"running", "waiting", "kv_cache_usage", "accept_length_gauge", "accept_rate_gauge"}
    | {"finished_generation_tokens"}
)
SECONDS = frozenset({"queue_s", "ttft_s"})
"""Sums of a histogram: no whole numbers."""
_COUNTERS = frozenset(name for canonical in NAMES.keys() - GAUGES for name in NAMES[canonical])
SERIES_NAMES = tuple(sorted({name for names in NAMES.values() for name in names}))
PROCESS_START = "process_start_time_seconds"
TRACED = (*SERIES_NAMES, PROCESS_START)
"""What the readings during a gate keep of a page: series whose names begin so."""
_LABEL = re.compile(r'([A-Za-z_][A-Za-z0-9_]*)="((?:[^"\\]|\\.)*)"')


class Series(NamedTuple):
    name: str
    labels: dict[str, str]
    value: float


Page: TypeAlias = Mapping[str, Sequence[Series]]
"""The series of one scrape by name."""


def gauge(counters: Counters, canonical: str) -> float | None:
    """A gauge by canonical name, summed over engines where it counts, else the highest; `None` if absent."""
    return _gauge(_page(counters), canonical)


def _gauge(page: Page, canonical: str) -> float | None:
    seen = [series.value for series in _find(page, canonical)]
    if not seen:
        return None
    return sum(seen) if canonical in ("running", "waiting") else max(seen)


def in_flight_tokens(counters: Counters) -> int | None:
    """Tokens generated for requests that are still running; `None` where the page lacks one of the totals.

    The token counter grows with each step, the sum over requests only when one of them ends.
    """
    page = _page(counters)
    generated, finished = _find(page, "generation_tokens"), _find(page, "finished_generation_tokens")
    if not generated or not finished:
        return None
    return round(sum(s.value for s in generated) - sum(s.value for s in finished))


def counter_deltas(before: Counters | None, after: Counters | None) -> CounterDeltas:
    """Gains from `before` to `after`, summed over engines; lifetime totals are never used as gains.

    A counter that shrank or vanished, or a process that started anew, voids the whole window: figures
    that still look plausible are then wrong as well. A series that only the later scrape has gives
    nothing, as its earlier value is unknown.
    """
    for scrape, which in ((before, "before"), (after, "after")):
        if scrape is None or not scrape.available:
            reason = scrape.reason if scrape is not None else "not scraped"
            return CounterDeltas(available=False, reason=f"no counters {which}: {reason}")
    assert before is not None
    assert after is not None
    reset = reset_evidence(before, after)
    if reset is not None:
        return CounterDeltas(available=True, reset=reset, reason="counter_reset")
    pages = _page(before), _page(after)
    gains = {name: _gain(*pages, name) for name in NAMES if name not in GAUGES | SECONDS}
    drafts = gains["drafts"]
    unknown = sorted(name for name, gain in gains.items() if gain is None and _find(pages[1], name))
    return CounterDeltas(
        available=True,
        reason=f"not the same series in both scrapes: {', '.join(unknown)}" if unknown else None,
        moved=None if drafts is None else drafts > 0,
        quiescent=_quiescent(*pages),
        prompt_tokens=gains["prompt_tokens"],
        generation_tokens=gains["generation_tokens"],
        cached_tokens=gains["cached_tokens"],
        preemptions=gains["preemptions"],
        queue_s=_difference(*pages, "queue_s"),
        ttft_s=_difference(*pages, "ttft_s"),
        first_tokens=gains["first_tokens"],
        in_flight_tokens=in_flight_tokens(after),
        finished=_by_label(*pages, "finished", "finished_reason"),
        acceptance=_acceptance(gains, _by_label(*pages, "accepted_per_position", "position")),
    )


def as_traced(counters: Counters) -> Counters:
    """A scrape as a reading during the gate has it: beside a whole page, what was not kept looks vanished."""
    kept = {key: value for key, value in counters.series.items() if key.startswith(TRACED)}
    return counters.model_copy(update={"series": kept})


def reset_evidence(before: Counters, after: Counters) -> str | None:
    """What shows that the server's counters began anew between two scrapes, or `None`."""
    page, page_after = _page(before), _page(after)
    started = {series.value for series in page.get(PROCESS_START, ())}
    restarted = {series.value for series in page_after.get(PROCESS_START, ())}
    if started and restarted and started != restarted:
        return f"{PROCESS_START} changed from {min(started):.0f} to {max(restarted):.0f}"
    for key, value in before.series.items():
        if not _is_counter(_name(key), page):
            continue
        if key not in after.series:
            return f"{key} vanished"
        if after.series[key] < value:
            return f"{key} fell from {value:g} to {after.series[key]:g}"
    return None


def acceptance_from_counts(
    drafts: int,
    draft_tokens: int,
    accepted_tokens: int,
    source: str,
    accepted_per_position: tuple[int, ...] | None = None,
) -> Acceptance:
    """Acceptance of `drafts` steps. vLLM's convention: mean length = 1 + accepted/drafts."""
    none = None if drafts > 0 and draft_tokens > 0 else "no_drafts"
    per_draft = accepted_tokens / drafts if drafts > 0 else 0.0
    share = accepted_tokens / draft_tokens if draft_tokens > 0 else 0.0

    def figure(name: str, formula: str, unit: str, n: int, value: float) -> Measure:
        return Measure(name=name, formula=formula, unit=unit, n=n, value=None if none else value, absent=none)

    return Acceptance(
        source=source,
        drafts=drafts,
        draft_tokens=draft_tokens,
        accepted_tokens=accepted_tokens,
        rate=figure("acceptance_rate", "accepted/draft tokens", "ratio", draft_tokens, share),
        mean_accepted=figure("mean_accepted", "accepted/drafts", "tok/step", drafts, per_draft),
        mean_length=figure("mean_length", "1 + accepted/drafts", "tok/step", drafts, 1 + per_draft),
        per_position=tuple(count / drafts for count in accepted_per_position)
        if accepted_per_position is not None and drafts > 0
        else None,
    )


def _acceptance(gains: Mapping[str, int | None], positions: Mapping[str, int] | None) -> Acceptance | None:
    drafts, proposed, accepted = gains["drafts"], gains["draft_tokens"], gains["accepted_tokens"]
    if drafts is None or proposed is None or accepted is None:
        return None
    return acceptance_from_counts(drafts, proposed, accepted, "counters", _in_order(positions))


def _in_order(positions: Mapping[str, int] | None) -> tuple[int, ...] | None:
    """Counts from position 0 on; `None` where a position is missing or is no number."""
    if not positions or not all(position.isdecimal() for position in positions):
        return None
    by_number = {int(position): count for position, count in positions.items()}
    if sorted(by_number) != list(range(len(by_number))):
        return None
    return tuple(by_number[position] for position in range(len(by_number)))


def _quiescent(before: Page, after: Page) -> bool | None:
    seen = [_gauge(page, name) for page in (before, after) for name in ("running", "waiting")]
    return None if None in seen else not any(seen)


def _gain(before: Page, after: Page, canonical: str) -> int | None:
    gained = _difference(before, after, canonical)
    return None if gained is None else round(gained)


def _difference(before: Page, after: Page, canonical: str) -> float | None:
    earlier, later = _find(before, canonical), _find(after, canonical)
    if not earlier or {_identity(s) for s in earlier} != {_identity(s) for s in later}:
        return None
    return sum(s.value for s in later) - sum(s.value for s in earlier)


def _by_label(before: Page, after: Page, canonical: str, label: str) -> dict[str, int] | None:
    if _gain(before, after, canonical) is None:
        return None
    gains: dict[str, float] = {}
    for sign, page in ((-1, before), (1, after)):
        for series in _find(page, canonical):
            value = series.labels.get(label, "")
            gains[value] = gains.get(value, 0.0) + sign * series.value
    return {value: round(gain) for value, gain in gains.items()}


def _identity(series: Series) -> tuple[str, tuple[tuple[str, str], ...]]:
    return series.name, tuple(sorted(series.labels.items()))


def _find(page: Page, canonical: str) -> Sequence[Series]:
    """All series of the newest name that the page has; an older name beside it says the same again."""
    names = (name for alias in NAMES[canonical] for name in (f"{alias}_total", alias))
    return next((page[name] for name in names if name in page), ())


def _page(counters: Counters) -> Page:
    page: dict[str, list[Series]] = {}
    for key, value in counters.series.items():
        series = Series(_name(key), _labels(key), value)
        page.setdefault(series.name, []).append(series)
    return page


def _name(key: str) -> str:
    return key.split("{", 1)[0]


def _labels(key: str) -> dict[str, str]:
    return {label: _plain(value) for label, value in _LABEL.findall(key.partition("{")[2])}


def _plain(value: str) -> str:
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], value)


def _is_counter(name: str, page: Page) -> bool:
    """By the convention of both text formats. A `_sum` may fall, and a lone `_count` may be a gauge."""
    if name.endswith("_count"):
        return f"{name.removesuffix('_count')}_sum" in page
    return name in _COUNTERS or name.endswith(("_total", "_bucket"))
