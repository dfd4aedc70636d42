"""Why an answer failed, as one stable word, and what is worth a finding though it fails nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from armgate.judging.rates import delivery_is_bursty
from armgate.judging.subject import Subject
from armgate.model.clauses.markers import TOOL_MARKUP
from armgate.model.outcome import Finding, Violation


def cause_of(subject: Subject, violations: Sequence[Violation]) -> str | None:
    """The cause of a failure: what the server or the budget did to the answer, else the first breach.

    The order is from the outside in: an answer that never reached its channel, one that was cut, one
    whose text breaks a promise (`<clause>:<kind>`).
    """
    if not violations:
        return None
    for cause, holds in _CAUSES.items():
        if holds(subject, violations):
            return cause
    first = violations[0]
    return f"{first.clause}:{first.kind}" if first.kind else first.clause


def _no_content(subject: Subject) -> bool:
    return not (subject.response.content or "").strip()


def _in_reasoning(subject: Subject, violations: Sequence[Violation]) -> bool:
    return _no_content(subject) and bool(subject.response.reasoning) and not subject.response.tool_calls


def _cut_in_reasoning(subject: Subject, violations: Sequence[Violation]) -> bool:
    return _in_reasoning(subject, violations) and _cut(subject)


def _cut(subject: Subject) -> bool:
    return "length" in (subject.response.finish_reason, subject.response.effective_stop(subject.cap_tokens))


def _call_in_reasoning(subject: Subject, violations: Sequence[Violation]) -> bool:
    reasoning = subject.response.reasoning or ""
    return not subject.response.tool_calls and any(markup in reasoning for markup in TOOL_MARKUP)


def _call_cut(subject: Subject, violations: Sequence[Violation]) -> bool:
    return any(violation.kind == "tool_call_truncated" for violation in violations)


def _length_stop(subject: Subject, violations: Sequence[Violation]) -> bool:
    return _cut(subject) and any(violation.clause == "finish" for violation in violations)


def _replaced(subject: Subject, violations: Sequence[Violation]) -> bool:
    replaced = any(violation.clause == "no_replacement_characters" for violation in violations)
    return replaced and bool(subject.replacements_on_the_wire)


_CAUSES: dict[str, Callable[[Subject, Sequence[Violation]], bool]] = {
    "budget_exhausted_in_reasoning": _cut_in_reasoning,
    "tool_call_in_reasoning": _call_in_reasoning,
    "content_empty_answer_in_reasoning": _in_reasoning,
    "tool_call_truncated": _call_cut,
    "length_stop": _length_stop,
    "replacement_char_from_server": _replaced,
}


def findings_of(subject: Subject) -> tuple[Finding, ...]:
    """What an operator should know of an answer that its verdict does not rest on."""
    return tuple(_findings(subject))


def _findings(subject: Subject) -> Iterator[Finding]:
    response = subject.response
    if subject.bare:
        return
    for flag in response.flags:
        if flag in _FLAGS:
            yield Finding(kind=flag, message=_FLAGS[flag])
    if delivery_is_bursty(response.deltas):
        message = "most of the text came in one burst: no rate between tokens is usable"
        yield Finding(kind="delivery_not_generation_paced", message=message)
    if response.usage is None:
        yield Finding(kind="usage_missing", message="the server reported no usage")
        return
    for doubt in response.usage.doubts:
        yield Finding(kind=doubt, message=_DOUBTS.get(doubt, "the reported usage cannot be trusted"))


_FLAGS = {
    "invalid_utf8": "the body holds bytes that are not UTF-8; they are kept as U+DC80..U+DCFF",
    "reasoning_fields_differ": "two reasoning fields carry different texts; the first was read",
    "several_choices": "the response has more than one choice; the first was read",
    "text_after_finish": "text arrived after the finish reason",
}
_DOUBTS = {
    "usage_missing": "the usage names no completion tokens",
    "usage_zero_with_text": "the usage counts no tokens for a text that arrived",
    "usage_implausible": "more completion tokens than the text can hold; no rate is computed from them",
    "text_shorter_than_tokens": "more completion tokens than the text that arrived explains",
    "prompt_tokens_unreliable": "no prompt tokens for a prompt that was sent: unknown, not zero",
    "reasoning_tokens_placeholder": "no reasoning tokens for reasoning that arrived: unknown, not zero",
}
