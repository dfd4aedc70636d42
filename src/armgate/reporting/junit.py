"""`junit.xml`: one test suite for each arm and boot, one test case for each gate, outcomes kept apart.

Form: the `testsuites`/`testsuite`/`testcase` elements that Jenkins, GitLab and GitHub's reporters read.
"""

from __future__ import annotations

from collections import Counter
from xml.etree import ElementTree as ET

from armgate.model.boots import BootRecord
from armgate.model.outcome import Outcome, Verdict, Violation
from armgate.reporting.facts import RunFacts
from armgate.reporting.inert import one_line, visible

ELEMENTS = {
    Outcome.FAILED: "failure",
    Outcome.SKIPPED: "skipped",
    Outcome.VOID: "error",
    Outcome.ERRORED: "error",
}
"""A void is an error: evidence that carries no verdict must turn nothing green."""


def junit_bytes(run: RunFacts) -> bytes:
    plan = run.plan_file.plan
    root = ET.Element("testsuites", _totals(run.plan_file.plan.campaign, [v for *_, v in run.verdicts()]))
    for (arm, boot), facts in run.boots.items():
        verdicts = [facts.verdicts[gate] for gate in plan.gate_ids if gate in facts.verdicts]
        for advisory in (False, True):
            chosen = [verdict for verdict in verdicts if verdict.required is not advisory]
            if chosen:
                name = f"{arm}/{boot:02d}" + (" (advisory)" if advisory else "")
                _suite(root, name, facts.record, chosen)
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'.encode()


def _totals(name: str, verdicts: list[Verdict]) -> dict[str, str]:
    tally = Counter(ELEMENTS.get(verdict.outcome, "passed") for verdict in verdicts)
    return {
        "name": name,
        "tests": str(len(verdicts)),
        "failures": str(tally["failure"]),
        "errors": str(tally["error"]),
        "skipped": str(tally["skipped"]),
    }


def _suite(root: ET.Element, name: str, record: BootRecord, verdicts: list[Verdict]) -> None:
    suite = ET.SubElement(root, "testsuite", _totals(name, verdicts))
    if record.started_utc is not None:
        suite.set("timestamp", record.started_utc.removesuffix("+00:00"))
    for verdict in verdicts:
        case = ET.SubElement(suite, "testcase", {"classname": name, "name": verdict.gate})
        element = ELEMENTS.get(verdict.outcome)
        if element is not None:
            note = ET.SubElement(case, element, {"message": one_line(_message(verdict))})
            note.set("type", verdict.cause or verdict.outcome.value)
            note.text = visible("\n".join(_details(verdict))) or None


def _message(verdict: Verdict) -> str:
    if verdict.outcome is Outcome.SKIPPED:
        return f"skipped because of {verdict.because_of}: {verdict.message or 'not executed'}"
    return f"{verdict.outcome}: {verdict.message or verdict.cause or ''}"


def _details(verdict: Verdict) -> list[str]:
    lines = [_line("gate", violation) for violation in verdict.violations]
    for sample in verdict.samples:
        lines += [_line(sample.sample, violation) for violation in sample.violations]
    return lines


def _line(where: str, violation: Violation) -> str:
    span = f" at bytes {violation.span[0]}-{violation.span[1]}" if violation.span else ""
    channel = f" of {violation.channel}" if violation.channel else ""
    return f"{where}: {violation.clause}: {violation.message}{span}{channel}"
