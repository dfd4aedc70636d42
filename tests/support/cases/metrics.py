"""Incidents about metrics pages: read by the product's scraper, compared by its counters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from armgate.judging.counters import acceptance_from_counts, counter_deltas, gauge, in_flight_tokens
from armgate.judging.speculation_log import conflict, from_counters, logged_acceptance, reported
from armgate.model.evidence import Counters
from armgate.model.measures import CounterDeltas
from armgate.telemetry.metrics import parse_counters
from support.cases.corpus import NotCovered
from support.cases.observed import ABSENT, Observed

Fields = Mapping[str, Any]


def _values(values: Mapping[str, Any]) -> Callable[[str], Any]:
    return lambda name: values.get(name, ABSENT)


def _variants(given: Fields) -> Iterator[Observed]:
    for label, page in given["variants"].items():
        usage = gauge(parse_counters(page, 0.0), "kv_cache_usage")
        yield Observed(label, "passed", frozenset(), _values({"kv_cache_usage": usage}))


def _before_after(given: Fields) -> Iterator[Observed]:
    before, after = (parse_counters(given[name], at) for name, at in (("before", 0.0), ("after", 1.0)))
    gained = counter_deltas(before, after)
    outcome = "void" if gained.reset else "passed"
    words = frozenset({gained.reason or ""})
    yield Observed("", outcome, words, _values(_gains(gained)))


def _gains(gained: CounterDeltas) -> dict[str, Any]:
    out: dict[str, Any] = {
        "generation_tokens_delta": gained.generation_tokens,
        "prompt_tokens_delta": gained.prompt_tokens,
    }
    if gained.acceptance is not None:
        out |= {
            "drafts": gained.acceptance.drafts,
            "draft_tokens": gained.acceptance.draft_tokens,
            "accepted_tokens": gained.acceptance.accepted_tokens,
            "acceptance_rate": gained.acceptance.rate.value,
            "mean_acceptance_length": gained.acceptance.mean_length.value,
            "per_position": list(gained.acceptance.per_position or ()),
        }
    return out


def _page(label: str, counters: Counters) -> Observed:
    """A page without counters: no verdict is due, and the reason is said."""
    word = (counters.reason or "").partition(":")[0]
    gained = counter_deltas(counters, counters)
    rate = gained.acceptance.rate.value if gained.acceptance else None
    values = _values({"acceptance_rate": rate})
    return Observed(label, "passed" if counters.available else "none_due", frozenset({word}), values)


def _http_variants(given: Fields) -> Iterator[Observed]:
    for label, answer in given["variants"].items():
        yield _page(label, parse_counters(answer["body"], 0.0, answer["status"]))


def _http_json(given: Fields) -> Iterator[Observed]:
    if not isinstance(given["body"], str):
        raise NotCovered
    yield _page("", parse_counters(given["body"], 0.0, given["status"]))


def _log_lines(given: Fields) -> Iterator[Observed]:
    """An older engine's log line beside counters of the newer: two definitions, never set side by side."""
    older = logged_acceptance([given["v0"]])[0]
    newer = acceptance_from_counts(
        given["v1_delta"]["drafts"],
        given["v1_delta"]["draft_tokens"],
        given["v1_delta"]["accepted_tokens"],
        source="counters",
    )
    values = {
        "v1_acceptance_rate": newer.rate.value,
        "v1_mean_acceptance_length": newer.mean_length.value,
        "v0_rate_comparable": older.definition == newer.definition,
    }
    found = conflict((older, from_counters(newer)))
    yield Observed("", "passed", frozenset({found.kind} if found else ()), _values(values))


def _sources(given: Fields) -> Iterator[Observed]:
    """A report in the response beside the server's log."""
    meta = given["response_meta"]
    said = reported("response", meta["spec_accept_rate"], meta["spec_accept_length"])
    found = conflict((said, *logged_acceptance([given["server_log"]])))
    yield Observed("", "passed", frozenset({found.kind} if found else ()))


def _text(given: Fields) -> Iterator[Observed]:
    found = in_flight_tokens(parse_counters(given["body"], 0.0))
    yield Observed("", "passed", frozenset(), _values({"in_flight_tokens": found}))


METRICS_RUNNERS: dict[str, Callable[[Fields], Iterator[Observed]]] = {
    "metrics_variants": _variants,
    "metrics_before_after": _before_after,
    "http_variants": _http_variants,
    "http_json": _http_json,
    "log_lines": _log_lines,
    "sources": _sources,
    "metrics_text": _text,
}
