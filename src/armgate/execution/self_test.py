"""A handful of hostile answers that a tier must really stop before it is used, and the host's speed in it."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path

from armgate.errors import SandboxUnavailable
from armgate.execution.preparation import PreparedCase, new_seal
from armgate.execution.recording import case_run
from armgate.execution.sandbox import Sandbox
from armgate.execution.tier import TierBackend
from armgate.execution.wire import CaseRequest
from armgate.model.case_kind import case_finding, read_value
from armgate.model.execution import CaseRun, Kind, Limits, Tier, recorded_bytes
from armgate.model.plain import Comparison, NotPlainError, Plain, encode
from armgate.model.task import Case, Task

LIMITS = Limits(cpu_s=1.0, wall_s=8.0, memory_mb=256, output_kb=64, scratch_mb=16)

_TASK = Task(
    schema="armgate/task/v1",
    id="self-test",
    kind="function",
    entry="solve",
    prompt="none",
    cases=(Case(args=[], expect=0),),
)


@dataclasses.dataclass(frozen=True)
class Trial:
    """An answer, what it may return, and the kind that a sound sandbox gives it."""

    name: str
    text: str
    kind: Kind
    arguments: tuple[Plain, ...] = ()
    expected: Plain = None


def trials(canary: str) -> Iterator[Trial]:
    """`canary` is a file of the host that no answer may read."""
    yield Trial("an honest answer with threads", _THREADS, Kind.PASS, (), [1, "a"])
    read = "def solve(path):\n    return open(path).read()\n"
    yield Trial("an honest answer", "def solve():\n    return [1, 'a']\n", Kind.PASS, (), [1, "a"])
    yield Trial("reading a file of the host", read, Kind.RUNTIME_ERROR, (canary,))
    fork = "import os\ndef solve():\n    os.fork()\n"
    yield Trial("starting a process", fork, Kind.SANDBOX_VIOLATION)
    connect = "import socket\ndef solve():\n    socket.socket()\n"
    yield Trial("opening a socket", connect, Kind.SANDBOX_VIOLATION)
    shoot = "import os\ndef solve():\n    os.kill(os.getppid(), 9)\n"
    yield Trial("killing its parent", shoot, Kind.SANDBOX_VIOLATION)
    peek = "def solve():\n    return open('/proc/1/mem', 'rb').read(1)\n"
    yield Trial("reading the first process's memory", peek, Kind.RUNTIME_ERROR)
    forge = "import os\ndef solve():\n    os.write(3, b'Vn;')\n    os._exit(0)\n"
    yield Trial("forging a result", forge, Kind.CONTRACT_VIOLATION)
    leave = "import os\ndef solve():\n    os._exit(0)\n"
    yield Trial("leaving early", leave, Kind.RUNTIME_ERROR)
    grab = "def solve():\n    return len(bytearray(1 << 30))\n"
    yield Trial("taking too much memory", grab, Kind.MEMORY)
    flood = "import os\ndef solve():\n    while True: os.write(1, bytes(65536))\n"
    yield Trial("flooding its output", flood, Kind.OUTPUT_LIMIT)
    write = "def solve(path):\n    open(path, 'w').write('x')\n"
    yield Trial("writing a file of the host", write, Kind.RUNTIME_ERROR, (canary + "-new",))


_THREADS = """
from threading import Thread
def solve():
    threads = [Thread(target=int) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [1, "a"]
"""

BASELINE_S = 0.020
"""CPU time of `_WORK` on the machine whose speed counts as 1 (a 2024 server core, CPython 3.11)."""

_WORK = """
import time
def solve():
    best = 9.0
    for _ in range(3):
        start = time.process_time()
        total = 0
        for i in range(300_000):
            total += i & 7
        best = min(best, time.process_time() - start)
    return best
"""


@dataclasses.dataclass(frozen=True)
class Examined:
    """A tier that held. `factor` is how much slower than the baseline this host is, never below 1."""

    tier: Tier
    factor: float


def examine(backend: TierBackend) -> Examined:
    """Starts one sandbox and tries it; SandboxUnavailable names the first trial that ended otherwise."""
    sandbox = backend.start(LIMITS)
    try:
        tier = backend.describe(sandbox)
        with _canary() as path:
            for trial in trials(path):
                _try(trial, sandbox)
        return Examined(tier, max(1.0, round(_speed(sandbox) / BASELINE_S, 2)))
    finally:
        sandbox.close()


@contextlib.contextmanager
def _canary() -> Iterator[str]:
    """A file that anyone on the host may read, in a folder where anyone may write."""
    with tempfile.TemporaryDirectory(prefix=f"armgate-{os.getpid()}-canary-") as folder:
        path = Path(folder, "canary")
        path.write_text(secrets.token_hex(16))
        path.chmod(0o644)
        Path(folder).chmod(0o777)
        yield str(path)


def _try(trial: Trial, sandbox: Sandbox) -> None:
    run = _run(trial, sandbox)
    found = case_finding(run, _TASK, Comparison(), LIMITS)
    if found.kind is not trial.kind:
        raise SandboxUnavailable(
            f"self-test: {trial.name} gave {found.kind} ({found.reason}: {found.message}), not {trial.kind}"
        )


def _run(trial: Trial, sandbox: Sandbox) -> CaseRun:
    seal = new_seal()
    request = CaseRequest(
        kind="function",
        text=trial.text.encode(),
        seal=seal,
        entry="solve",
        arguments=list(trial.arguments),
        cpu_s=LIMITS.cpu_s,
        wall_s=LIMITS.wall_s,
        memory_mb=LIMITS.memory_mb,
        output_bytes=LIMITS.output_kb << 10,
        scratch_mb=LIMITS.scratch_mb,
    )
    case = PreparedCase(trial.name, list(trial.arguments), "", encode(trial.expected))
    return case_run(case, sandbox.run(request), seal, whole_stdout=False)


def _speed(sandbox: Sandbox) -> float:
    """CPU seconds that a fixed piece of work takes inside the sandbox."""
    trial = Trial("measuring this host's speed", _WORK, Kind.PASS)
    run = _run(trial, sandbox)
    try:
        value = read_value(recorded_bytes(run.result), run.seal)
    except NotPlainError:
        value = None
    if type(value) is not float:
        raise SandboxUnavailable("self-test: the host's speed could not be measured")
    return value
