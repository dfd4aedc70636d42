"""What an incident expects, held against what was observed. Every mismatch is told, not only the first."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from armgate.judging.fences import extract_fenced_block
from support.cases.contracts import reasons
from support.cases.corpus import Case
from support.cases.observed import ABSENT, Observed

OUTCOMES = {
    "PASS": "passed",
    "FAIL": "failed",
    "VOID": "void",
    "BOOT_FAIL": "not_booted",
    "WARN": "passed",
    "N/A": "none_due",
    "WAIT": "none_due",
}
"""The corpus's words for verdicts; WARN is passed with a finding."""

PAGE_WINS = {"budget_not_enforced_on_arm": "VOID"}
"""Reasons whose verdict the page on outcomes settles otherwise: a cap that was ignored is void."""

LISTED = re.compile(r"row (\d+)(?: (\w+))?$")


def mismatches(case: Case, observed: Sequence[Observed]) -> list[str]:
    """Everything that is not as the case expects."""
    out: list[str] = []
    for one in observed:
        verdict = _verdict(case, one)
        out += [f"{one.label}: {text}" for text in _outcome(one, verdict)]
        out += [f"{one.label}: {text}" for text in _reason(case, one, verdict)]
        out += [f"{one.label}: {text}" for text in _values(case, one)]
        out += [f"{one.label}: {text}" for text in _flags(case, one)]
    out += list(_listed_values(case, observed))
    out += list(_musts(case, observed))
    return out


def _verdict(case: Case, one: Observed) -> str | None:
    """The verdict word for this observation, `None` where the case leaves it to a declared policy."""
    expected = case.expected
    if expected.get("reason") in PAGE_WINS:
        return PAGE_WINS[expected["reason"]]
    for table in ("per_variant", "by_policy", "per_probe"):
        if table in expected:
            return expected[table].get(one.label)
    row = LISTED.match(one.label)
    if row:
        policies = case.input.get("policies", [None])
        word = case.input["rows"][int(row[1])][1 + policies.index(row[2])]
        return None if word == "POLICY" else word
    return expected.get("verdict")


def _outcome(one: Observed, verdict: str | None) -> Iterator[str]:
    if verdict in OUTCOMES and one.outcome != OUTCOMES[verdict]:
        yield f"expected {verdict}, found {one.outcome} ({', '.join(sorted(one.words))})"


def _reason(case: Case, one: Observed, verdict: str | None) -> Iterator[str]:
    own = case.expected.get("per_variant_reason", {}).get(one.label)
    reason = own or case.expected.get("reason")
    if reason is None or verdict in ("PASS", "WAIT", None):
        return
    if case.kind == "http_sequence" and one.label == "item 0":
        return
    words = set(reasons()[reason])
    if not words & one.words:
        said = ", ".join(sorted(one.words))
        yield f"expected the reason {reason} ({', '.join(sorted(words))}), said: {said}"


def _values(case: Case, one: Observed) -> Iterator[str]:
    wanted = dict(case.expected.get("values", {}))
    wanted |= case.expected.get("per_variant_values", {}).get(one.label, {})
    tolerance = case.expected.get("tolerance", {})
    for name, value in wanted.items():
        if isinstance(value, list) and case.kind == "http_sequence":
            continue
        found = one.values(name)
        if found is ABSENT:
            yield f"no public function gives {name}"
        elif not _close(found, value, tolerance.get(name)):
            yield f"{name}: expected {value!r}, found {found!r}"


def _close(found: Any, wanted: Any, tolerance: float | None) -> bool:
    if isinstance(wanted, list) and isinstance(found, list):
        return len(wanted) == len(found) and all(
            _close(one, other, tolerance) for one, other in zip(found, wanted, strict=True)
        )
    if isinstance(found, float) or tolerance is not None:
        return isinstance(wanted, int | float) and math.isclose(
            found, wanted, rel_tol=1e-9, abs_tol=tolerance or 1e-9
        )
    return bool(type(found) is type(wanted) and found == wanted)


def _flags(case: Case, one: Observed) -> Iterator[str]:
    wanted = case.expected.get("per_variant_flags", {}).get(one.label)
    if wanted is not None and sorted(wanted) != sorted(one.flags):
        yield f"expected the flags {wanted}, found {list(one.flags)}"


def _listed_values(case: Case, observed: Sequence[Observed]) -> Iterator[str]:
    """Values that a sequence of exchanges gives one by one."""
    if case.kind != "http_sequence":
        return
    for name, wanted in case.expected.get("values", {}).items():
        found = [one.values(name) for one in observed]
        if isinstance(wanted, list) and found != wanted:
            yield f"{name}: expected {wanted}, found {found}"


def _musts(case: Case, observed: Sequence[Observed]) -> Iterator[str]:
    for kind in ("must", "must_not"):
        for phrase in case.expected.get(kind, ()):
            holds = MUSTS.get(phrase)
            if holds is not None and not all(holds(one) for one in observed):
                yield f"{kind}: {phrase}"


def _spanned(one: Observed) -> bool:
    """Every violation about text has its byte span, within its channel."""
    assert one.judgement is not None
    assert one.response is not None
    for violation in one.judgement.violations:
        if violation.span is not None and violation.channel is not None:
            text = one.response.channel(violation.channel) or ""
            start, end = violation.span
            if not 0 <= start <= end <= len(text.encode("utf-8", "surrogatepass")):
                return False
    return True


def _says(one: Observed, clause: str, pattern: str) -> bool:
    """Violations of the clause, if there are any, have messages like `pattern`."""
    assert one.judgement is not None
    said = [v.message for v in one.judgement.violations if v.clause == clause]
    return all(re.search(pattern, message, re.DOTALL) for message in said)


def _raw(one: Observed, data: bytes) -> bool:
    assert one.exchange is not None
    return data in one.exchange.body


def _content(one: Observed) -> str:
    assert one.response is not None
    return one.response.content or ""


def _not_timed(one: Observed) -> bool:
    assert one.response is not None
    timings = one.response.timings
    return timings.ttft_s is None or timings.ttft_s > 0


MUSTS: dict[str, Callable[[Observed], bool]] = {
    "capture content and reasoning as two separate raw channels": lambda one: (
        one.response is not None and one.response.content is None and one.response.reasoning == "703"
    ),
    "turn null content into '' or 'None' in the raw record": lambda one: (
        one.response is not None and one.response.content is None
    ),
    "record which field name the server used": lambda one: (
        one.response is not None and bool(one.response.reasoning_fields)
    ),
    "show the matched marker and offset": lambda one: (
        _spanned(one) and _says(one, "no_reasoning_leak", r"of family \w+ at byte \d+")
    ),
    "name the code point with line and column": lambda one: _says(
        one, "python", r"U\+[0-9A-F]{4,6}.*(line \d+, column \d+|byte order mark)|byte order mark"
    ),
    "strip the thinking part and then pass the strict contract on '703'": lambda one: one.outcome == "failed",
    "pass by stripping": lambda one: one.outcome == "failed",
    "store a diagnostic class (whitespace, punctuation, markdown, unicode look-alike, extra text) "
    "next to FAIL": (lambda one: one.judgement is not None and all(v.kind for v in one.judgement.violations)),
    "hand '' to the grader": lambda one: extract_fenced_block(_content(one)) is None,
    "run the functional grader as if the answer were complete": lambda one: (
        extract_fenced_block(_content(one)) is None
    ),
    "prove from the raw bytes that EF BF BD was on the wire": lambda one: (
        _raw(one, b"\xef\xbf\xbd") and _says(one, "no_replacement_characters", r"2 were in the recorded body")
    ),
    "strip U+FFFD": lambda one: _content(one).count("\ufffd") == 2,
    "introduce U+FFFD": lambda one: "\ufffd" not in _content(one),
    "raw record keeps the CR": lambda one: _raw(one, b"\\r"),
    "keep the unparsable payload in the raw record": lambda one: _raw(one, b"Number of choices"),
    "report only 'timeout' and lose the server's message": lambda one: (
        one.judgement is not None and "Number of choices" in (one.judgement.message or "")
    ),
    "mark the sample as errored with the server's message, type and code": lambda one: (
        one.judgement is not None and bool(one.judgement.message)
    ),
    "score '70' as a wrong answer": lambda one: one.outcome == "void",
    "default finish_reason to stop": lambda one: (
        one.response is not None and one.response.finish_reason is None
    ),
    "score the partial text": lambda one: one.judgement is not None and not one.judgement.violations,
    "record it as an ordinary wrong answer": lambda one: (
        one.judgement is not None and one.judgement.cause == "tokens_generated_but_no_text"
    ),
    "score as wrong_answer": lambda one: (
        one.judgement is not None and one.judgement.cause == "budget_exhausted_in_reasoning"
    ),
    "parse the call out of reasoning and pass": lambda one: (
        one.response is not None and not one.response.tool_calls and one.outcome == "failed"
    ),
    "repair the JSON and pass": lambda one: one.outcome == "failed",
    "trim and close the JSON": lambda one: _content(one).endswith("\n"),
    "use 35 or 300 ms as TTFT": _not_timed,
    "append error text to content": lambda one: _content(one) == "703",
    "raise on the empty data frame": lambda one: _content(one) == "703",
    "append the string 'None' for null fields": lambda one: "None" not in _content(one),
    "report schema verdict and value verdict separately: the last three are schema-valid": lambda one: (
        "json:value_mismatch" in one.words and (one.label == "array") == ("json:top_level_type" in one.words)
    ),
}
"""Demands that can be computed from what was observed; the others are for people to read."""
