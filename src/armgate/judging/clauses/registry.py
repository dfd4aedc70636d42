"""Every clause by the name that contracts use. A new clause is one function, one line here, its options."""

from __future__ import annotations

from armgate.judging.clauses import ending, fencing, hygiene, python_code, structured, tongue, tools, wording
from armgate.judging.clauses.breach import Judge, demands_source, demands_text, forbids_in_text

CLAUSES: dict[str, Judge] = {
    "finish": ending.finish,
    "answered": ending.answered,
    "reasoning": ending.reasoning,
    "tool_calls": tools.tool_calls,
    "tool_round_trip": tools.tool_round_trip,
    "exact": demands_text(wording.exact),
    "contains": demands_text(wording.contains),
    "not_contains": forbids_in_text(wording.not_contains),
    "regex": demands_text(wording.regex),
    "length": demands_text(wording.length),
    "script": demands_text(tongue.script),
    "language": demands_text(tongue.language),
    "plain_text": demands_text(fencing.plain_text),
    "no_fence": forbids_in_text(fencing.no_fence),
    "one_fence": demands_text(fencing.one_fence),
    "python": demands_source(python_code.python),
    "json": demands_source(structured.json_document),
    "csv": demands_source(structured.csv),
    "no_reasoning_leak": forbids_in_text(hygiene.no_reasoning_leak),
    "no_special_tokens": forbids_in_text(hygiene.no_special_tokens),
    "no_replacement_characters": hygiene.no_replacement_characters,
    "no_invisible_characters": forbids_in_text(hygiene.no_invisible_characters),
    "no_degeneration": forbids_in_text(hygiene.no_degeneration),
}

NOT_OF_BARE_TEXTS = frozenset({"finish", "reasoning", "tool_round_trip"})
"""Clauses about what a text alone does not tell; they are reported as not applicable to it."""
