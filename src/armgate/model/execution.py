"""Execution records: the evidence of a code check, from which the verdict is compared offline."""

from __future__ import annotations

from enum import StrEnum

from armgate.model.base import Digest, Frozen, Json


class Kind(StrEnum):
    """What happened to an answer, mildest first; the worst case of an answer wins."""

    PASS = "pass"  # noqa: S105 - the design's word
    WRONG_ANSWER = "wrong_answer"
    RUNTIME_ERROR = "runtime_error"
    CONTRACT_VIOLATION = "contract_violation"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    OUTPUT_LIMIT = "output_limit"
    SANDBOX_VIOLATION = "sandbox_violation"
    HARNESS_ERROR = "harness_error"


class Limits(Frozen):
    """Per case. CPU time is tight and wall time generous, so a busy host fails no honest answer."""

    cpu_s: float = 2.0
    wall_s: float = 8.0
    memory_mb: int = 256
    output_kb: int = 256
    scratch_mb: int = 64


class Tier(Frozen):
    """Which sandbox ran an answer and what it does and does not isolate."""

    name: str
    version: str | None = None
    profile: Digest | None = None
    isolates: tuple[str, ...] = ()
    does_not: tuple[str, ...] = ()


class CaseRun(Frozen):
    """One case as observed. `observed` is plain data in the wire's tagged text form, never an object."""

    case: str
    input: Json
    expected: Json
    observed: str | None = None
    stdout: str | None = None
    stderr_tail: str | None = None
    error: str | None = None
    ended: str
    """What the harness's supervisor saw: `returned`, `raised`, `exited`, `signal`, `timeout`, ..."""
    exit_code: int | None = None
    signal: int | None = None
    cpu_s: float | None = None
    wall_s: float | None = None
    memory_peak_kb: int | None = None
    oom_kills: int = 0
    note: str | None = None


class ExecutionRecord(Frozen):
    """What a second comparison needs, sandbox not included: text run, inputs, observed values, limits, tier."""

    task: str
    task_digest: Digest
    text: str | None
    text_source: str
    """`content`, or the name of the declared extractor that took the text."""
    cases: tuple[CaseRun, ...]
    limits: Limits
    tier: Tier | None
    fault: str | None = None
    """Set where the sandbox itself failed: the outcome is then `errored`, whatever the cases say."""
