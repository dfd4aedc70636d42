"""A stand-in that somebody else started, for arms that attach."""

from __future__ import annotations

import socket
import subprocess
import sys
import time

from armgate.engines.listening import free_port
from support.stand_in import PROGRAM


class Running:
    """A stand-in that somebody else started."""

    def __init__(self, *options: str) -> None:
        self.port = free_port()
        words = [sys.executable, str(PROGRAM), "--port", str(self.port), *options]
        self.process = subprocess.Popen(words)
        while not self.listens():
            assert self.process.poll() is None
            time.sleep(0.02)

    def listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"
