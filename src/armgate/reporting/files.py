"""Every file of a run that is made for readers, people and machines alike, from the run's facts alone."""

from __future__ import annotations

from armgate.reporting.dataset import csv_bytes, dataset
from armgate.reporting.facts import RunFacts
from armgate.reporting.junit import junit_bytes
from armgate.reporting.llama_benchy import llama_benchy
from armgate.reporting.page.report import replies_pages, report_page
from armgate.reporting.run_folder import json_bytes, model_bytes

REPORT = "report.html"


def report_files(run: RunFacts) -> dict[str, bytes]:
    """Path in the run -> bytes; the same facts give the same bytes on every machine."""
    table = dataset(run)
    files = {
        "dataset.json": model_bytes(table),
        "dataset.csv": csv_bytes(table),
        "junit.xml": junit_bytes(run),
    }
    for arm in run.records:
        speed = llama_benchy(run, arm)
        if speed is not None:
            files[f"arms/{arm}/llama-benchy.json"] = json_bytes(speed)
    return files | {REPORT: report_page(run)} | dict(replies_pages(run))
