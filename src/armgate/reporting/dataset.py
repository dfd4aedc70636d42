"""`dataset.json` and `dataset.csv`: every sample of a run as one row."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from armgate.model.base import Json
from armgate.model.dataset import Dataset, DatasetRow
from armgate.model.outcome import SampleVerdict, Verdict
from armgate.reporting.facts import BootFacts, Reply, RunFacts
from armgate.reporting.inert import cell


def dataset(run: RunFacts) -> Dataset:
    plan = run.plan_file.plan
    return Dataset(
        armgate_version=plan.armgate_version,
        campaign=plan.campaign,
        plan_digest=run.plan_file.digest,
        rows=tuple(_rows(run)),
    )


def csv_bytes(table: Dataset) -> bytes:
    """RFC 4180 in UTF-8. Texts are quoted, and none is a formula to a spreadsheet; null is an empty cell."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")
    writer.writerow(DatasetRow.model_fields)
    for row in table.rows:
        writer.writerow([_cell(value) for value in row.model_dump(mode="json").values()])
    return out.getvalue().encode()


def _cell(value: Json) -> Json:
    if isinstance(value, str):
        return cell(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else value


def _rows(run: RunFacts) -> Iterator[DatasetRow]:
    for arm, boot, verdict in run.verdicts():
        facts = run.boots[arm, boot]
        for sample in verdict.samples or (None,):
            yield _row(run, arm, boot, verdict, sample, facts)


def _row(
    run: RunFacts, arm: str, boot: int, verdict: Verdict, sample: SampleVerdict | None, facts: BootFacts
) -> DatasetRow:
    reply = facts.reply_of(sample) if sample else None
    violations = sample.violations if sample else verdict.violations
    first = violations[0] if violations else None
    evidence = sample.evidence[0] if sample and sample.evidence else None
    return DatasetRow(
        arm=arm,
        arm_verdict=run.records[arm].arm_verdict,
        boot=boot,
        gate=verdict.gate,
        check=verdict.check,
        family=verdict.family,
        required=verdict.required,
        gate_outcome=verdict.outcome,
        because_of=verdict.because_of,
        sample=sample.sample if sample else None,
        outcome=sample.outcome if sample else verdict.outcome,
        cause=sample.cause if sample else verdict.cause,
        violations=len(violations),
        first_violation=f"{first.clause}: {first.message}" if first else None,
        **_figures(reply, sample),
        evidence=f"arms/{arm}/boots/{boot:02d}/{evidence}" if evidence else None,
    )


def _figures(reply: Reply | None, sample: SampleVerdict | None) -> dict[str, Json]:
    """Figures of the reply where it is on file; without it those that the verdict kept."""
    rates = sample.detail.get("rates", {}) if sample else {}
    counts = ("prompt_tokens", "completion_tokens", "cached_tokens", "ttft_s", "wall_s")
    known = {name: getattr(reply, name) if reply else rates.get(name) for name in counts}
    return known | {
        "decode_wall_tok_s": rates.get("decode_wall", {}).get("value"),
        "decode_span_tok_s": rates.get("decode_span", {}).get("value"),
        "finish_reason": reply.finish_reason if reply else None,
        "fate": reply.fate if reply else None,
    }
