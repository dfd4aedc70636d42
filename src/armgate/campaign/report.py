"""Writes a run's report and its checksums, when a run ends and whenever someone asks for them again."""

from __future__ import annotations

from armgate.campaign.facts import run_facts
from armgate.reporting.checksums import renew_sums, write_sums
from armgate.reporting.facts import RunFacts
from armgate.reporting.files import report_files
from armgate.reporting.run_folder import RunFolder, write_atomically


def finish(run: RunFolder) -> RunFacts:
    """The report of a run that has just ended, and then the checksums over everything."""
    facts = _write(run)[0]
    write_sums(run.root)
    return facts


def renew_report(run: RunFolder) -> tuple[RunFacts, dict[str, bytes]]:
    """The report made anew. Checksums of the evidence stay as they are; those of made files follow."""
    facts, files = _write(run)
    renew_sums(run.root, files)
    return facts, files


def _write(run: RunFolder) -> tuple[RunFacts, dict[str, bytes]]:
    facts = run_facts(run)
    files = report_files(facts)
    for name, data in files.items():
        write_atomically(run.root / name, data)
    return facts, files
