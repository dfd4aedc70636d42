"""Starting the server of known timing as a program, and stopping it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

PROGRAM = "armgate.client.known_timing"


@contextmanager
def timing_server() -> Iterator[str]:
    """The URL of a server that runs until the context ends."""
    argv = [sys.executable, "-m", PROGRAM]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.terminate()
