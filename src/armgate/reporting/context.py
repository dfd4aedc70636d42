"""What a record says of context lengths: limits below the promise, and what retrieval does not prove."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from armgate.model.arms import Arm
from armgate.model.base import Json
from armgate.model.boots import BootRecord
from armgate.model.outcome import Finding, Outcome
from armgate.model.quality import GateRecord
from armgate.model.windows import limit_below


def window_findings(arm: Arm, records: Sequence[BootRecord]) -> Iterator[Finding]:
    """Boots whose server settled on less than the arm's settings promise."""
    for record in records:
        limit = limit_below(arm.window_tokens, record.resolved, record.log_facts)
        if limit is not None:
            message = (
                f"boot {record.boot:02d}: {arm.window_tokens} tokens are promised and {limit.source} is "
                f"{limit.tokens}: nothing beyond that is served"
            )
            yield Finding(kind="effective_input_limit_below_declared", message=message)


def context_limits(arm: Arm, records: Sequence[BootRecord], gates: Sequence[GateRecord]) -> Iterator[str]:
    """Sentences for the record's limits."""
    yield from (finding.message for finding in window_findings(arm, records))
    for gate in gates:
        for boot, verdict in gate.verdicts.items():
            for sample in verdict.samples:
                if sample.cause in ("prompt_truncated", "context_rejected"):
                    where = f"{gate.gate} in boot {boot}: {sample.sample}"
                    yield f"{where}: {_numbers(sample.cause, sample.detail)}"
    for gate in gates:
        if gate.check == "retrieval" and gate.outcome is not Outcome.SKIPPED:
            yield _claim(arm, gate)


def _numbers(cause: str, detail: Mapping[str, Json]) -> str:
    sent, limit = detail.get("prompt_tokens"), detail.get("served_tokens", detail.get("limit_tokens"))
    known = "an unnamed limit" if limit is None else f"{limit}"
    return f"{cause}: {sent} prompt tokens sent, {known} served"


def _claim(arm: Arm, gate: GateRecord) -> str:
    lengths = [
        length.get("reported") or length.get("counted")
        for verdict in gate.verdicts.values()
        for length in verdict.measurements.get("prompt_tokens", {}).values()
    ]
    longest = max((length for length in lengths if length is not None), default=None)
    window = "the window" if arm.window_tokens is None else f"the window of {arm.window_tokens}"
    reach = "an unknown number of" if longest is None else f"at most {longest}"
    return (
        f"{gate.gate}: markers were asked for in {reach} prompt tokens, one request at a time; that is no "
        f"proof of the whole of {window}, of reasoning over documents, or of concurrency above 1"
    )
