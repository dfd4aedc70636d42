"""What one recorded case means: its kind, a stable reason word, what was observed. No text is trusted."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator

from armgate.model.base import Frozen
from armgate.model.execution import SEVERITY, CaseRun, Ended, Kind, Limits, recorded_bytes
from armgate.model.plain import (
    Comparison,
    NotPlainError,
    Plain,
    decode,
    decode_prefix,
    literal,
    same,
    same_float,
)
from armgate.model.task import Task

CHANNEL_LOST = 96
"""The harness's exit code where the answer took the result channel away."""

STARVED_SHARE = 0.25
"""Beyond this share of the wall time without a processor, a wall timeout is the host's doing."""

CONTRACT_WORDS = frozenset({"does_not_parse", "entry_missing", "return_type_not_plain"})


class CaseFinding(Frozen):
    """`reason` is a stable word for records, `observed` what came back as a person reads it."""

    kind: Kind
    reason: str
    message: str = ""
    observed: str | None = None


PASSED = CaseFinding(kind=Kind.PASS, reason="passed")


def case_finding(run: CaseRun, task: Task, rule: Comparison, limits: Limits) -> CaseFinding:
    """The worst that the evidence of one case shows. Breaking two limits gives the same kind every time."""
    fault = _fault(run)
    if fault is not None:
        return fault
    seen = list(_by_ending(run, limits))
    if seen:
        return max(seen, key=lambda finding: SEVERITY[finding.kind])
    return _program(run, rule) if task.kind == "program" else _function(run, task, rule)


def _fault(run: CaseRun) -> CaseFinding | None:
    """What is not the answer's doing."""
    if run.ended is Ended.NOT_SETTLED:
        return _finding(Kind.HARNESS_ERROR, "harness_failed", run.note or "the harness could not start")
    if run.ended is Ended.SANDBOX_LOST and not any(e.ended is Ended.SANDBOX_LOST for e in run.earlier):
        return _finding(Kind.HARNESS_ERROR, "sandbox_lost", run.note or "the sandbox was lost")
    if run.ended is Ended.SIGNALLED and run.host_oom_kills and not run.oom_kills:
        return _finding(Kind.HARNESS_ERROR, "host_out_of_memory", "the host ran out of memory meanwhile")
    if starved(run):
        message = f"ready to run without a processor for {run.waited_s:.2f} of {run.wall_s:.2f} s"
        return _finding(Kind.HARNESS_ERROR, "timeout_not_trustworthy", message)
    return None


def starved(run: CaseRun) -> bool:
    """Whether the wall limit ended a case that the host kept waiting."""
    return run.ended is Ended.WALL_LIMIT and run.waited_s > STARVED_SHARE * run.wall_s


def _by_ending(run: CaseRun, limits: Limits) -> Iterator[CaseFinding]:
    killed = run.signal == signal.SIGKILL
    if run.ended is Ended.SANDBOX_LOST:
        yield _finding(Kind.SANDBOX_VIOLATION, "sandbox_lost", "twice the sandbox did not survive this case")
    if run.ended is Ended.FORBIDDEN_CALL:
        yield _finding(Kind.SANDBOX_VIOLATION, "forbidden_call", run.attempted or "a forbidden system call")
    if run.signal == signal.SIGSYS:
        yield _finding(Kind.SANDBOX_VIOLATION, "forbidden_call", "a forbidden system call (SIGSYS)")
    if run.ended is Ended.OUTPUT_LIMIT or _sealed(run) == b"O":
        yield _finding(Kind.OUTPUT_LIMIT, "output_limit", f"more than {limits.output_kb} KiB")
    if (killed and run.oom_kills) or _sealed(run) == b"M" or run.memory_peak_kb > limits.memory_mb * 1024:
        yield _finding(Kind.MEMORY, "memory_limit", f"more than {limits.memory_mb} MiB asked for")
    if run.ended is Ended.CPU_LIMIT or run.signal == signal.SIGXCPU or run.cpu_s > limits.cpu_s:
        yield _finding(Kind.TIMEOUT, "cpu_limit", f"{run.cpu_s:.2f} s of CPU time, {limits.cpu_s:g} allowed")
    if run.ended is Ended.WALL_LIMIT:
        yield _finding(Kind.TIMEOUT, "wall_limit", f"{limits.wall_s:g} s passed, {run.cpu_s:.2f} s used")
    if run.ended is Ended.SCRATCH_LIMIT:
        message = f"more than {limits.scratch_mb} MiB of scratch files"
        yield _finding(Kind.RUNTIME_ERROR, "scratch_limit", message)
    if run.ended is Ended.SIGNALLED:
        yield _finding(Kind.RUNTIME_ERROR, "crash_or_recursion", f"died by {_signal_name(run.signal)}")


def _signal_name(number: int | None) -> str:
    try:
        return signal.Signals(number or 0).name
    except ValueError:
        return f"signal {number}"


def _sealed(run: CaseRun) -> bytes | None:
    return unsealed(recorded_bytes(run.result), run.seal)


def unsealed(data: bytes, seal: str) -> bytes | None:
    """The result without its seal, or None where it is missing or was not sent by the harness."""
    end = b"." + seal.encode()
    return data.removesuffix(end) if seal and data.endswith(end) else None


def read_value(data: bytes, seal: str) -> Plain:
    """The value in a result that the harness sealed; NotPlainError for anything else."""
    sealed = unsealed(data, seal)
    if sealed is None:
        raise NotPlainError("not sealed")
    return _value_and_arguments(sealed)[0]


def _function(run: CaseRun, task: Task, rule: Comparison) -> CaseFinding:
    if not recorded_bytes(run.result):
        return _nothing_reported(run)
    return _told(_sealed(run)) or _value(run, task, rule)


def _value(run: CaseRun, task: Task, rule: Comparison) -> CaseFinding:
    """A wrong value is wrong whoever sent it; a right one counts only from the harness."""
    sealed = _sealed(run)
    try:
        value, after = _value_and_arguments(recorded_bytes(run.result) if sealed is None else sealed)
    except NotPlainError:
        return _misused()
    expected = decode(run.expected)
    if not same(value, expected, rule):
        return _differs(literal(value), literal(expected))
    if sealed is None:
        return _misused("the result was not sent by the harness")
    if task.arguments == "unmutated" and not same(after, decode(run.input), Comparison()):
        return _finding(Kind.WRONG_ANSWER, "arguments_mutated", f"left as {literal(after)}", literal(value))
    return PASSED.model_copy(update={"observed": literal(value)})


def _value_and_arguments(data: bytes) -> tuple[Plain, Plain]:
    if data[:1] != b"V" or not data.isascii():
        raise NotPlainError("not a value")
    text = data[1:].decode("ascii")
    value, end = decode_prefix(text)
    after = None
    if text[end : end + 1] == "~":
        after, end = decode_prefix(text, end + 1)
    if end != len(text):
        raise NotPlainError("more than one value")
    return value, after


def _nothing_reported(run: CaseRun) -> CaseFinding:
    if run.exit_code == CHANNEL_LOST:
        return _misused()
    message = f"exited with status {run.exit_code} before a value was returned"
    return _finding(Kind.RUNTIME_ERROR, "no_result_reported", message)


def _told(sealed: bytes | None) -> CaseFinding | None:
    """What the harness itself says of an answer that gave no value: an exception, or nothing to run."""
    if sealed is None or sealed[:1] not in (b"E", b"C"):
        return None
    word, _, rest = sealed[1:].decode("utf-8", "replace").partition("\n")
    line, _, text = rest.partition("\n")
    message = _printable(text) + (f" (line {line})" if line else "")
    if sealed[:1] == b"C":
        return _finding(Kind.CONTRACT_VIOLATION, word, message) if word in CONTRACT_WORDS else _misused()
    if word == "SystemExit":
        return _finding(Kind.RUNTIME_ERROR, "no_result_reported", "SystemExit" + message)
    reason = "crash_or_recursion" if word == "RecursionError" else "exception"
    return _finding(Kind.RUNTIME_ERROR, reason, f"{_printable(word)}: {message}")


def _program(run: CaseRun, rule: Comparison) -> CaseFinding:
    told = _told(_sealed(run))
    if told is not None:
        return told
    if run.exit_code:
        reason = "result_channel_misused" if run.exit_code == CHANNEL_LOST else "exit_status"
        return _finding(Kind.RUNTIME_ERROR, reason, f"exit status {run.exit_code}")
    if not isinstance(run.stdout, str):
        return _finding(Kind.CONTRACT_VIOLATION, "stdout_not_utf8", "standard output is not UTF-8")
    if not same_stdout(run.stdout, run.expected, rule):
        return _differs(literal(run.stdout), literal(run.expected))
    if recorded_bytes(run.result) and _sealed(run) != b"P":
        return _misused()
    return PASSED.model_copy(update={"observed": literal(run.stdout)})


_NUMBER = re.compile(r"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|nan)\Z", re.ASCII)


def same_stdout(observed: str, expected: str, rule: Comparison) -> bool:
    """Line by line, blanks and CR at the end of a line and empty lines at the end aside (`stdout: lines`).

    With a tolerance, tokens that are numbers in the expected text are compared as numbers.
    """
    if rule.stdout == "exact":
        return observed == expected
    ours, theirs = _lines(expected), _lines(observed)
    if not rule.tolerant:
        return ours == theirs
    return len(ours) == len(theirs) and all(
        _same_tokens(t.split(" "), o.split(" "), rule) for t, o in zip(theirs, ours, strict=True)
    )


def _same_tokens(observed: list[str], expected: list[str], rule: Comparison) -> bool:
    return len(observed) == len(expected) and all(
        same_float(float(o), float(e), rule) if _NUMBER.match(o) and _NUMBER.match(e) else o == e
        for o, e in zip(observed, expected, strict=True)
    )


def _lines(text: str) -> list[str]:
    lines = [line.rstrip(" \t\r") for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _finding(kind: Kind, reason: str, message: str, observed: str | None = None) -> CaseFinding:
    return CaseFinding(kind=kind, reason=reason, message=message, observed=observed)


def _differs(observed: str, expected: str) -> CaseFinding:
    return _finding(Kind.WRONG_ANSWER, "value_differs", f"expected {expected}, got {observed}", observed)


def _misused(message: str = "the result channel was misused") -> CaseFinding:
    return _finding(Kind.CONTRACT_VIOLATION, "result_channel_misused", message)


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[:300])
