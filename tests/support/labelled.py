"""What of a run's boots still runs on this machine, by the label in each process's environment."""

from __future__ import annotations

import contextlib

import psutil

from armgate.engines.labels import BOOT


def labelled(run_name: str) -> list[psutil.Process]:
    """Processes of a run's boots, those that only wait to be reaped left out."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            ours = process.environ().get(BOOT, "").startswith(run_name)
            if ours and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found
