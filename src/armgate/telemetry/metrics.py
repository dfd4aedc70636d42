"""Reads a metrics page into counters by series. Never raises: what cannot be read is unavailable, and why."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping

from prometheus_client import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_families
from prometheus_client.parser import text_string_to_metric_families as text_families

from armgate.model.evidence import Counters

ANSWER_EXCERPT = 200
SWITCH_ON = "a server may need a switch: --metrics (llama.cpp), --enable-metrics (SGLang)"


def parse_counters(text: str, at_s: float, status: int = 200) -> Counters:
    """Counters of one scrape at `at_s` seconds; `status` is the HTTP status that came with `text`.

    Both text formats are read. `*_created` series are left out: their values are Unix times, written by
    client libraries beside the counters they belong to. So are values that are not finite numbers.
    """
    if status != 200:
        return _unavailable(at_s, f"metrics_unavailable: HTTP {status}: {_said(text)}; {SWITCH_ON}")
    if not text.strip():
        return _unavailable(at_s, "metrics_empty: HTTP 200 without any text")
    try:
        series, doubled = _series(_families(text))
    except Exception as broken:  # the parsers raise whatever their slicing runs into
        return _unavailable(at_s, f"metrics_unreadable: {broken}; the page begins: {_said(text)}")
    if not series:
        return _unavailable(at_s, "metrics_empty: a page without any series")
    reason = f"given twice with different values, left out: {', '.join(doubled)}" if doubled else None
    return Counters(available=True, reason=reason, at_s=at_s, series=series)


def unreachable(at_s: float, why: str) -> Counters:
    """Counters of a scrape to which no answer came."""
    return _unavailable(at_s, f"metrics_unavailable: {why}")


def series_key(name: str, labels: Mapping[str, str]) -> str:
    """`name{label="value",...}` with sorted labels and escaped values; the bare name without labels."""
    if not labels:
        return name
    inner = ",".join(f'{label}="{_escaped(value)}"' for label, value in sorted(labels.items()))
    return f"{name}{{{inner}}}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _families(text: str) -> Iterable[Metric]:
    """The strict parser where the page ends as OpenMetrics must; the older one otherwise or if that fails."""
    if text.rstrip().endswith("# EOF"):
        try:
            return list(openmetrics_families(text.rstrip() + "\n"))  # type: ignore[no-untyped-call]
        except ValueError:
            pass
    return text_families(text)


def _series(families: Iterable[Metric]) -> tuple[dict[str, float], list[str]]:
    series: dict[str, float] = {}
    doubled: set[str] = set()
    for family in families:
        for sample in family.samples:
            if sample.name.endswith("_created") or not math.isfinite(sample.value):
                continue
            key = series_key(sample.name, sample.labels)
            if series.setdefault(key, float(sample.value)) != sample.value:
                doubled.add(key)
    return {key: value for key, value in series.items() if key not in doubled}, sorted(doubled)


def _said(text: str) -> str:
    """The server's own message where the body is an error object of a known shape, else its beginning."""
    try:
        body = json.loads(text)
    except ValueError:
        return text.strip()[:ANSWER_EXCERPT] or "no text"
    error = body.get("error", body.get("detail")) if isinstance(body, dict) else None
    said = error.get("message") if isinstance(error, dict) else error
    return (said if isinstance(said, str) else text.strip())[:ANSWER_EXCERPT]


def _unavailable(at_s: float, reason: str) -> Counters:
    return Counters(available=False, reason=reason, at_s=at_s)
