"""Ports: one that is free, and whose socket listens on one."""

from __future__ import annotations

import socket

import psutil

from armgate.engines.server import Listener
from armgate.errors import BootError


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def claim_port(declared: int | None) -> int:
    """The declared port if nothing listens on it, else a free one; raises BootError `port_in_use`."""
    if declared is None:
        return free_port()
    holders = _holders(declared)
    if holders or _answers(declared):
        raise BootError("port_in_use", f"port {declared} is in use{_by(holders)}, before the start")
    return declared


def listener_of(port: int, root: int, *, same_user: bool) -> Listener:
    """Whether the socket on `port` belongs to the process `root` and its descendants.

    With `same_user` they are our own, whose sockets are always seen with their pid.
    """
    holders = _holders(port)
    if not holders:
        return Listener.NOBODY
    try:
        process = psutil.Process(root)
        family = {root, *(child.pid for child in process.children(recursive=True))}
    except psutil.Error:
        family = {root}
    if holders & family:
        return Listener.OURS
    return Listener.UNKNOWN if None in holders and not same_user else Listener.FOREIGN


def foreign(port: int) -> BootError:
    return BootError("port_in_use", f"port {port} was taken by another program{_by(_holders(port))}")


def _holders(port: int) -> set[int | None]:
    """Process ids of listening sockets on `port`; `None` for one whose owner the host does not tell."""
    return {
        connection.pid
        for connection in psutil.net_connections(kind="tcp")
        if connection.status == psutil.CONN_LISTEN and connection.laddr and connection.laddr.port == port
    }


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _by(holders: set[int | None]) -> str:
    names = []
    for pid in sorted(pid for pid in holders if pid is not None):
        try:
            names.append(f"{psutil.Process(pid).name()} ({pid})")
        except psutil.Error:
            continue
    return f" by {', '.join(names)}" if names else ""
