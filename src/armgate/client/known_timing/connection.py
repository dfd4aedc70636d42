"""One connection to the server of known timing: what was read, and what the socket has not yet taken."""

from __future__ import annotations

import socket
from collections import deque


class Connection:
    """One client's connection; requests on it are answered one after the other."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.received = b""
        self.unsent: deque[bytes] = deque()
        self.busy = False
        self.closed = False
        self.asked_to_write = False

    def write(self, data: bytes) -> None:
        """Hands `data` to the socket now; what it does not take waits until it does."""
        if self.unsent:
            self.unsent.append(data)
            return
        sent = self._sent(data)
        if sent < len(data):
            self.unsent.append(data[sent:])

    def flush(self) -> None:
        while self.unsent:
            data = self.unsent.popleft()
            sent = self._sent(data)
            if sent < len(data):
                self.unsent.appendleft(data[sent:])
                return

    def _sent(self, data: bytes) -> int:
        try:
            return self.sock.send(data)
        except BlockingIOError:
            return 0
        except OSError:
            self.closed = True
            return len(data)
