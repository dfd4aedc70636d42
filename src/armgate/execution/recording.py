"""One case as observed, put down as evidence."""

from __future__ import annotations

from armgate.execution.preparation import PreparedCase
from armgate.execution.sandbox import Observed
from armgate.model.execution import CaseRun, Ended, recorded

TAIL = 2048
"""Bytes of a function's standard output, and of any standard error, that a record keeps."""


def case_run(case: PreparedCase, observed: Observed, seal: str, whole_stdout: bool) -> CaseRun:
    ending = observed.ending
    known = CaseRun(
        case=case.name,
        input=case.input,
        expected=case.expected,
        seal=seal,
        ended=Ended.SANDBOX_LOST,
        note=observed.lost,
    )
    if ending is None:
        return known
    stdout = observed.stdout if whole_stdout else observed.stdout[-TAIL:]
    return known.model_copy(
        update={
            "ended": ending.ended,
            "exit_code": ending.exit_code,
            "signal": ending.signal,
            "result": recorded(observed.result),
            "stdout": recorded(stdout),
            "stderr_tail": recorded(observed.stderr[-TAIL:]),
            "stdout_bytes": len(observed.stdout),
            "attempted": ending.call,
            "cpu_s": ending.cpu_s,
            "wall_s": ending.wall_s,
            "waited_s": ending.waited_s,
            "memory_peak_kb": ending.peak_kb,
            "oom_kills": ending.oom_kills,
            "note": _setup_error(observed) if ending.ended is Ended.NOT_SETTLED else None,
        }
    )


def _setup_error(observed: Observed) -> str:
    return observed.stderr[:200].decode("utf-8", "replace") or "the harness did not begin"
