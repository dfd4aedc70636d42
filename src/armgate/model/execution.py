"""Execution records: the evidence of a code check, from which the verdict is compared offline."""

from __future__ import annotations

import base64
from enum import StrEnum
from typing import TypeAlias

from armgate.model.base import Digest, Frozen


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


SEVERITY = {kind: place for place, kind in enumerate(Kind)}


class Ended(StrEnum):
    """How the process of one case came to its end, as its parent in the sandbox saw it."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    CPU_LIMIT = "cpu_limit"
    WALL_LIMIT = "wall_limit"
    OUTPUT_LIMIT = "output_limit"
    SCRATCH_LIMIT = "scratch_limit"
    FORBIDDEN_CALL = "forbidden_call"
    NOT_SETTLED = "not_settled"
    """The harness failed before the answer began."""
    SANDBOX_LOST = "sandbox_lost"
    """The channel to the sandbox closed, fell silent or spoke nonsense while the case ran."""


class B64(Frozen):
    """Bytes that are not UTF-8."""

    b64: str


Recorded: TypeAlias = str | B64
"""Bytes as recorded: their UTF-8 text where they are UTF-8, else base64."""


def recorded(data: bytes) -> Recorded:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return B64(b64=base64.b64encode(data).decode("ascii"))


def recorded_bytes(value: Recorded) -> bytes:
    return value.encode("utf-8") if isinstance(value, str) else base64.b64decode(value.b64)


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
    """The engine's and the interpreter's versions."""
    profile: Digest | None = None
    """Of the harness and system-call policy that ran inside."""
    isolates: tuple[str, ...] = ()
    does_not: tuple[str, ...] = ()


class Calibration(Frozen):
    """What this host's speed did to the limits. `factor` scaled the task's CPU limit (never below 1)."""

    factor: float = 1.0
    reference_cpu_s: float | None = None
    """The costliest case of the task's own reference on this host, in this tier."""
    reference_wall_s: float | None = None


class CaseRun(Frozen):
    """One case as observed. Sizes are in bytes, times in seconds."""

    case: str
    input: str
    """The argument list in the wire's tagged text; for a program, its stdin."""
    expected: str
    """The expected value in the wire's tagged text; for a program, its stdout."""
    ended: Ended
    exit_code: int | None = None
    signal: int | None = None
    seal: str = ""
    """What only the harness of this case was given; a result that does not end in it was forged."""
    result: Recorded = ""
    """All that arrived on the result channel."""
    stdout: Recorded = ""
    """All of a program's output; of a function's, which is noise, the tail."""
    stderr_tail: Recorded = ""
    stdout_bytes: int = 0
    attempted: str | None = None
    """The system call that ended the case."""
    cpu_s: float = 0.0
    wall_s: float = 0.0
    waited_s: float = 0.0
    """Time ready to run without a processor, read where the wall limit ended the case."""
    memory_peak_kb: int = 0
    oom_kills: int = 0
    host_oom_kills: int = 0
    """Kills by the host's own shortage while the case ran: not the answer's doing."""
    note: str | None = None
    earlier: tuple[CaseRun, ...] = ()
    """Attempts before this one that could not carry a verdict, with their own evidence."""


class ExecutionRecord(Frozen):
    """What a second comparison needs, without a sandbox: text run, inputs, observed values, limits, tier."""

    task: str
    task_digest: Digest
    text: Recorded | None
    text_source: str
    """`content`, or the name of the declared extractor that took the text."""
    planned: int = 0
    """Cases of the task. Fewer were run where one of them ended the answer."""
    cases: tuple[CaseRun, ...] = ()
    limits: Limits = Limits()
    calibration: Calibration = Calibration()
    tier: Tier | None = None
    fault: str | None = None
    """Set where the sandbox itself failed: the outcome is then `errored`, whatever the cases say."""
