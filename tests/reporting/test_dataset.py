"""The data set: one row a sample, the same rows in both forms, inert in a spreadsheet."""

import csv
import io
import json

import jsonschema

from armgate.cli.schema import schema_of
from armgate.reporting.dataset import csv_bytes, dataset
from armgate.reporting.facts import RunFacts
from armgate.reporting.run_folder import model_bytes


def rows_of(facts: RunFacts) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(csv_bytes(dataset(facts)).decode(), newline="")))


def test_every_sample_and_every_gate_without_one_has_a_row(mixed_facts: RunFacts) -> None:
    table = dataset(mixed_facts)
    wanted = sum(max(len(verdict.samples), 1) for *_, verdict in mixed_facts.verdicts())
    assert len(table.rows) == wanted
    jsonschema.validate(json.loads(model_bytes(table)), schema_of("dataset"))
    skipped = next(row for row in table.rows if row.arm == "broken" and row.gate == "after-yes")
    assert (skipped.outcome, skipped.because_of, skipped.sample) == ("skipped", "yes", None)
    failed = next(row for row in table.rows if row.arm == "broken" and row.gate == "yes")
    assert failed.first_violation is not None
    assert failed.first_violation.startswith("exact: expected 'yes'")
    assert (failed.completion_tokens, failed.finish_reason, failed.fate) == (2, "stop", "complete")
    assert failed.evidence == "arms/broken/boots/00/exchanges/yes/yes.0.jsonl"


def test_both_forms_have_the_same_rows(mixed_facts: RunFacts) -> None:
    table = dataset(mixed_facts)
    rows = rows_of(mixed_facts)
    assert list(rows[0]) == list(type(table.rows[0]).model_fields)
    assert [(row["arm"], row["gate"], row["sample"]) for row in rows] == [
        (row.arm, row.gate, row.sample or "") for row in table.rows
    ]


def test_hostile_replies_open_inert(hostile_facts: RunFacts) -> None:
    data = csv_bytes(dataset(hostile_facts))
    data.decode("utf-8")
    assert b"\x1b" not in data
    assert "\u202e" not in data.decode()
    for row in rows_of(hostile_facts):
        for name, value in row.items():
            numeric = name.endswith(("_s", "_tokens", "violations", "boot"))
            assert numeric or not value.startswith(("=", "+", "-", "@", "\t", "\r")), (name, value)
