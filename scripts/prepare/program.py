"""Runs outside programs: a step's, into a log file with a sign of life, or one that has the terminal."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from prepare.refusal import Refusal

TICK_S = 0.2
LOG_LINES_SHOWN = 12


def run(argv: Sequence[str | Path], log: Path, remedy: str, env: dict[str, str] | None = None) -> None:
    """Run `argv` to its end. A failure is a Refusal that quotes the end of the log.

    Ctrl-C or SIGTERM ends the program first, so that nothing goes on writing, then raises
    KeyboardInterrupt.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as out:
        out.write(("$ " + " ".join(map(str, argv)) + "\n").encode())
        out.flush()
        start = out.tell()
        with _signals_noted() as noted:
            process = subprocess.Popen(
                list(map(str, argv)),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(env or {})},
            )
            code = _wait_showing_life(process, noted)
    if code != 0:
        tail = log.read_bytes()[start:].decode(errors="replace").splitlines()[-LOG_LINES_SHOWN:]
        quoted = "\n".join(f"    | {line}" for line in tail)
        raise Refusal(f"{Path(argv[0]).name} ended with code {code}; its last words:\n{quoted}", remedy)


def foreground(argv: Sequence[str | Path], folder: Path, env: dict[str, str] | None = None) -> int:
    """Run `argv` with our terminal to its own end and return its code (negative: the signal that ended it).

    Ctrl-C reaches it from the terminal, SIGTERM through us; either way it cleans up after itself and we
    wait, since what ends abruptly may leave a server behind.
    """
    with _signals_noted() as noted:
        process = subprocess.Popen(list(map(str, argv)), cwd=folder, env={**os.environ, **(env or {})})
        while _still_runs(process):
            if signal.SIGTERM in noted:
                noted.clear()
                process.terminate()
    return process.returncode


@contextlib.contextmanager
def _signals_noted() -> Iterator[list[int]]:
    """SIGINT and SIGTERM are noted down instead of raised.

    An exception that they raise could come in the middle of a start, and leave the program running alone.
    """
    noted: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _frame: noted.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield noted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _still_runs(process: subprocess.Popen[bytes]) -> bool:
    """Wait a tick for its end."""
    try:
        process.wait(TICK_S)
    except subprocess.TimeoutExpired:
        return True
    return False


def _wait_showing_life(process: subprocess.Popen[bytes], noted: Sequence[int]) -> int:
    started = time.monotonic()
    alive = sys.stderr.isatty()
    while _still_runs(process):
        if noted:
            _end(process)
            raise KeyboardInterrupt
        if alive:
            print(f"\r    {time.monotonic() - started:4.0f} s ", end="", file=sys.stderr, flush=True)
    if alive:
        print("\r           \r", end="", file=sys.stderr, flush=True)
    if noted:
        raise KeyboardInterrupt
    return process.returncode


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
