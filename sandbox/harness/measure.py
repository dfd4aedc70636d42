"""What the kernel says about a running case."""

import os
import time


def exit_descriptor(pid):
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def cpu_s(pid):
    """CPU time of all threads of a process: the clock whose id the kernel derives from the process id."""
    try:
        return time.clock_gettime((~pid << 3) | 2)
    except OSError:
        return 0.0


def waited_us(pid):
    """How long the process was ready to run while the host gave it no processor."""
    try:
        with open("/proc/%d/schedstat" % pid) as file:
            return int(file.read().split()[1]) // 1000
    except (OSError, ValueError, IndexError):
        return 0


class MemoryKills:
    """Kills by the memory limit of this sandbox's control group (v2, then v1), where it can be seen."""

    def __init__(self):
        self._known = self._count()

    def new(self):
        """How many there were since the last time of asking."""
        before, self._known = self._known, self._count()
        return max(self._known - before, 0)

    def _count(self):
        for path in ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"):
            try:
                with open(path) as file:
                    fields = dict(line.split() for line in file)
                    return int(fields.get("oom_kill", 0))
            except (OSError, ValueError):
                continue
        return 0
