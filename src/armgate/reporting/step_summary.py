"""A run in GitHub-flavoured Markdown, short enough for a job's summary page (1 MiB there)."""

from __future__ import annotations

from armgate.model.outcome import Outcome
from armgate.model.quality import GateRecord, QualityRecord
from armgate.reporting.facts import RunFacts
from armgate.reporting.inert import markdown

REASON_CHARS = 300
ARMS = 200
"""Arms that get a row; the rest is counted, so that the page is accepted whatever the run."""


def step_summary(run: RunFacts) -> str:
    lines = [
        f"## armgate: {markdown(run.plan_file.plan.campaign)}",
        "",
        f"Plan `{run.plan_file.digest}`, exit code {run.exit_code}.",
        "",
        "| arm | verdict | passed | failed | skipped | void | errored | first reason |",
        "|---|---|---:|---:|---:|---:|---:|---|",
    ]
    records = list(run.records.values())
    lines += [_row(record) for record in records[:ARMS]]
    if len(records) > ARMS:
        lines += ["", f"{len(records) - ARMS} more arms: see `report.html`."]
    lines += ["", "Counts are of required gates; advisory gates decide nothing.", ""]
    if run.comparison is not None:
        lines += [markdown(run.comparison.choice.statement), ""]
    return "\n".join(lines)


def _row(record: QualityRecord) -> str:
    required = [gate for gate in record.gates if gate.required]
    reason = markdown(record.reasons[0][:REASON_CHARS]) if record.reasons else ""
    counts = " | ".join(str(_count(required, outcome)) for outcome in Outcome)
    return f"| {markdown(record.arm)} | **{record.arm_verdict.value}** | {counts} | {reason} |"


def _count(gates: list[GateRecord], outcome: Outcome) -> int:
    return sum(gate.outcome is outcome for gate in gates)
