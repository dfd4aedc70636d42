"""A small program between Armgate and a server: whatever happens to either, nothing of the boot stays.

Run as `python supervisor.py LOG SCRATCH -- ARGV...`, standard library only. It adopts every orphaned
descendant of the server (PR_SET_CHILD_SUBREAPER), reports on stdout as JSON lines, takes orders on stdin:
`stop SECONDS` ends the server gently within that time; the end of stdin (Armgate died) ends it at once.
The folder SCRATCH, private to the boot, goes with it.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
ORPHANED_GRACE_S = 5.0
POLL_S = 0.5
LOG_END_S = 5.0
LINE_S = 0.5
"""A line that stays without its end for so long, such as a progress bar, is written as it is."""


def say(**event: object) -> None:
    with contextlib.suppress(OSError):  # the reader may be gone; stopping the server matters more
        os.write(1, json.dumps(event).encode() + b"\n")


def descendants() -> set[int]:
    """Process ids below this one, from /proc."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)] = int(fields[1])
    found: set[int] = set()
    frontier = {os.getpid()}
    while frontier:
        frontier = {pid for pid, parent in parents.items() if parent in frontier} - found
        found |= frontier
    return found


def reap() -> dict[int, int]:
    """Exit codes of all children that have ended (negative: the signal's number)."""
    ended: dict[int, int] = {}
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            ended[pid] = os.waitstatus_to_exitcode(status)
    return ended


def end_all(seen: set[int]) -> None:
    """SIGKILL until no descendant is left, then remove what Intel's OpenMP leaves in shared memory."""
    while left := descendants():
        seen |= left
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
        reap()
    for pid in seen:
        for path in Path("/dev/shm").glob(f"__KMP_REGISTERED_LIB_{pid}*"):  # noqa: S108
            path.unlink(missing_ok=True)


def orders(timeout_s: float) -> str | None:
    """The next order, `""` at the end of stdin, `None` if there is none yet."""
    if not select.select([0], [], [], timeout_s)[0]:
        return None
    return os.read(0, 4096).decode()


def main() -> int:
    log, scratch, argv = sys.argv[1], sys.argv[2], sys.argv[sys.argv.index("--") + 1 :]
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    try:
        server = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_default_signals,  # noqa: PLW1509 - this program has one thread so far
        )
    except OSError as error:
        say(event="not_started", message=str(error))
        return 1
    assert server.stdout is not None
    writer = threading.Thread(target=write_log, args=(server.stdout.fileno(), log), daemon=True)
    writer.start()
    say(event="started", pid=server.pid)
    processes = watch(server)
    writer.join(LOG_END_S)
    shutil.rmtree(scratch, ignore_errors=True)
    say(event="gone", processes=processes)
    return 0


def write_log(source: int, log: str) -> None:
    """What the server prints, with credentials masked before a byte of them is on disk."""
    mask = log_mask()
    with Path(log).open("ab", buffering=0) as stream:
        while True:
            silent = not select.select([source], [], [], LINE_S)[0]
            data = b"" if silent else os.read(source, 1 << 16)
            with contextlib.suppress(OSError):  # a full disk must not stop the server's own writing
                stream.write(mask.feed(data) if data else mask.flush())
            if not silent and not data:
                return


def log_mask() -> Any:
    """`LogMask` of the model layer, loaded by its path: this program runs without the package."""
    path = Path(__file__).resolve().parents[1] / "model" / "redaction.py"
    spec = importlib.util.spec_from_file_location("redaction", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.LogMask(os.environ)


def _default_signals() -> None:
    """In the child before it becomes the server, which is not to outlive this program, however that ends."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def watch(server: subprocess.Popen[bytes]) -> int:
    """Until the server and all it started are gone; how many processes that were."""
    seen: set[int] = {server.pid}
    kill_at: float | None = None
    while True:
        seen |= descendants()
        ended = reap()
        if server.pid in ended:
            say(event="exited", code=ended[server.pid])
            break
        if kill_at is not None and time.monotonic() > kill_at:
            say(event="killed")
            break
        if kill_at is not None:
            time.sleep(POLL_S)
        elif (order := orders(POLL_S)) is not None:
            kill_at = time.monotonic() + (_grace_s(order) if order else ORPHANED_GRACE_S)
            with contextlib.suppress(OSError):
                os.kill(server.pid, signal.SIGTERM)
    end_all(seen)
    return len(seen)


def _grace_s(order: str) -> float:
    words = order.split()
    return float(words[1]) if len(words) == 2 and words[0] == "stop" else ORPHANED_GRACE_S


if __name__ == "__main__":
    sys.exit(main())
