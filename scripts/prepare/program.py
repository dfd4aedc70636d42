"""Runs one outside program of a step: output to a log file, a sign of life on a terminal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from prepare.refusal import Refusal

TICK_S = 0.5
LOG_LINES_SHOWN = 12


def run(argv: Sequence[str | Path], log: Path, remedy: str, env: dict[str, str] | None = None) -> None:
    """Run `argv` to its end. A failure is a Refusal that quotes the end of the log.

    Whatever interrupts us (Ctrl-C, SIGTERM) ends the program first, so nothing goes on writing.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as out:
        out.write(("$ " + " ".join(str(word) for word in argv) + "\n").encode())
        out.flush()
        start = out.tell()
        process = subprocess.Popen(
            [str(word) for word in argv],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(env or {})},
        )
        try:
            code = _wait(process)
        except BaseException:
            _end(process)
            raise
    if code != 0:
        tail = log.read_bytes()[start:].decode(errors="replace").splitlines()[-LOG_LINES_SHOWN:]
        quoted = "\n".join(f"    | {line}" for line in tail)
        raise Refusal(f"{Path(argv[0]).name} ended with code {code}; its last words:\n{quoted}", remedy)


def foreground(argv: Sequence[str | Path], folder: Path, env: dict[str, str] | None = None) -> int:
    """Run `argv` with our terminal to its own end and return its code (negative: the signal that ended it).

    Ctrl-C reaches it from the terminal, SIGTERM through us; either way it cleans up after itself and we
    wait, since what ends abruptly may leave a server behind.
    """
    started: list[subprocess.Popen[bytes]] = []

    def pass_on(number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGTERM:
            for process in started:
                process.terminate()

    # Before the start, or a signal that comes during it would end us and leave the program alone.
    before = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        words = [str(word) for word in argv]
        started.append(subprocess.Popen(words, cwd=folder, env={**os.environ, **(env or {})}))
        return started[0].wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _wait(process: subprocess.Popen[bytes]) -> int:
    started = time.monotonic()
    alive = sys.stderr.isatty()
    while True:
        try:
            return process.wait(TICK_S)
        except subprocess.TimeoutExpired:
            if alive:
                print(f"\r    {time.monotonic() - started:4.0f} s ", end="", file=sys.stderr, flush=True)
        finally:
            if alive and process.returncode is not None:
                print("\r            \r", end="", file=sys.stderr, flush=True)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
