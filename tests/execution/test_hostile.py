"""Answers that try to get out, to talk themselves into a pass, or only look suspicious; in every tier."""

from __future__ import annotations

import pytest

from armgate.execution.executor import Executor
from support.sandbox_corpus import CorpusFile, judge

CALLS = {
    "kill everybody": "import os\ndef solve(xs):\n    os.kill(-1, 9)\n    return sum(xs)\n",
    "pidfd of the parent": "import os\ndef solve(xs):\n    os.pidfd_open(os.getppid())\n    return sum(xs)\n",
    "read the parent's memory": """
import ctypes, os
def solve(xs):
    ctypes.CDLL(None).process_vm_readv(os.getppid(), 0, 0, 0, 0, 0)
    return sum(xs)
""",
    "new namespace": """
import ctypes
def solve(xs):
    ctypes.CDLL(None).unshare(0x10000000)
    return sum(xs)
""",
    "new namespace by clone": """
import ctypes, platform
def solve(xs):
    number = {"x86_64": 56, "aarch64": 220}[platform.machine()]
    ctypes.CDLL(None).syscall(number, 0x10000000 | 17, 0, 0, 0, 0)
    return sum(xs)
""",
    "become root": """
import os
def solve(xs):
    try:
        os.setuid(0)
    except OSError:
        pass
    return sum(xs)
""",
    "mount": """
import ctypes
def solve(xs):
    ctypes.CDLL(None).mount(b"none", b"/", b"tmpfs", 0, 0)
    return sum(xs)
""",
    "replace itself": "import os\ndef solve(xs):\n    os.execv('/bin/sh', ['sh'])\n",
    "subprocess": "import subprocess\ndef solve(xs):\n    subprocess.run(['true'])\n    return sum(xs)\n",
    "spawn": "import os\ndef solve(xs):\n    os.posix_spawn('/bin/true', ['true'], {})\n    return sum(xs)\n",
    "UDP": "import socket\ndef solve(xs):\n    socket.socket(type=socket.SOCK_DGRAM)\n    return sum(xs)\n",
    "Unix socket": "import socket\ndef solve(xs):\n    socket.socket(socket.AF_UNIX)\n    return sum(xs)\n",
    "crypto socket": """
import socket
def solve(xs):
    try:
        socket.socket(38, 5, 0)
    except OSError:
        pass
    return sum(xs)
""",
    "datagram pair, which could send to a socket file": """
import socket
def solve(xs):
    socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    return sum(xs)
""",
    "descriptor that signals the parent": """
import fcntl, os
def solve(xs):
    end, _ = os.pipe()
    fcntl.fcntl(end, 8, os.getppid())
    return sum(xs)
""",
    "in a thread": """
import os, threading, time
def solve(xs):
    threading.Thread(target=os.fork).start()
    time.sleep(0.3)
    return sum(xs)
""",
    "escaping from a stopped call by a timer": """
import os, signal
def boom(*_):
    raise KeyError
signal.signal(signal.SIGALRM, boom)
def solve(xs):
    signal.setitimer(signal.ITIMER_REAL, 0.0001, 0.0001)
    try:
        os.fork()
    except KeyError:
        pass
    signal.setitimer(signal.ITIMER_REAL, 0)
    return sum(xs)
""",
}

FORGERIES = {
    "a right value sent by the answer itself": (
        "contract_violation",
        "import os\ndef solve(xs):\n    os.write(3, b'Vi%s;' % hex(sum(xs)).encode())\n    os._exit(0)\n",
    ),
    "the harness's own exit code": ("contract_violation", "import os\ndef solve(xs):\n    os._exit(96)\n"),
    "the exit code of a broken harness": ("runtime_error", "import os\ndef solve(xs):\n    os._exit(97)\n"),
    "a frame of the host's wire on stdout": (
        "runtime_error",
        "import os\ndef solve(xs):\n    os.write(1, bytes([4]) + bytes(60))\n    os._exit(0)\n",
    ),
    "a subclass of int": (
        "contract_violation",
        "class I(int):\n    def __eq__(self, o): return True\ndef solve(xs): return I(1)\n",
    ),
    "a list in itself": ("contract_violation", "def solve(xs):\n    a = []\n    a.append(a)\n    return a\n"),
    "a class that lies about itself": (
        "runtime_error",
        """
class E(Exception):
    @property
    def __class__(self):
        while True:
            pass
def solve(xs):
    raise E
""",
    ),
    "a coroutine": ("contract_violation", "async def solve(xs): return sum(xs)\n"),
}

LIMITS = {
    "files that exceed the scratch space together": (
        "runtime_error",
        """
def solve(xs):
    for i in range(30):
        open(f"f{i}", "wb").write(bytes(8 << 20))
    return sum(xs)
""",
    ),
    "files hidden in closed folders": (
        "runtime_error",
        """
import os
def solve(xs):
    for i in range(12):
        os.mkdir(f"d{i}")
        with open(f"d{i}/f", "wb") as file:
            file.write(bytes(8 << 20))
        os.chmod(f"d{i}", 0)
    return sum(xs)
""",
    ),
    "memory in an anonymous file": (
        "runtime_error",
        "import os\ndef solve(xs):\n    os.memfd_create('x')\n    return sum(xs)\n",
    ),
    "standard error": (
        "output_limit",
        "import sys\ndef solve(xs):\n    while True: sys.stderr.write('x' * 999)\n",
    ),
    "a long list": ("output_limit", "def solve(xs): return list(range(10**6))\n"),
    "killing itself": ("runtime_error", "import os\ndef solve(xs): os.kill(os.getpid(), 9)\n"),
    "a wild pointer": ("runtime_error", "import ctypes\ndef solve(xs): ctypes.string_at(0)\n"),
    "a trace function that never ends": (
        "timeout",
        """
import sys
def forever(*_):
    while True:
        pass
def solve(xs):
    sys.setprofile(forever)
    return sum(xs)
""",
    ),
}

HONEST = {
    "closed streams": "import os\nfor fd in 0, 1, 2: os.close(fd)\ndef solve(xs): return sum(xs)\n",
    "another working directory": "import os\nos.chdir('/')\ndef solve(xs): return sum(xs)\n",
    "a deep tree of folders": """
import os
def solve(xs):
    for _ in range(1500):
        os.mkdir("d")
        os.chdir("d")
    return sum(xs)
""",
    "links out of the scratch folder": """
import os
def solve(xs):
    os.symlink("/etc/passwd", "a")
    os.symlink("/", "b")
    return sum(xs)
""",
    "timers and signals of its own": """
import signal
def solve(xs):
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    signal.pause()
    return sum(xs)
""",
    "built-ins replaced": """
import builtins, marshal
builtins.len = lambda *_: 0
builtins.type = builtins.hex = builtins.isinstance = None
marshal.loads = None
def solve(xs): return sum(xs)
""",
    "thirty-two threads": """
import time
from concurrent.futures import ThreadPoolExecutor
def solve(xs):
    with ThreadPoolExecutor(32) as threads:
        list(threads.map(lambda _: time.sleep(0.01), range(64)))
    return sum(xs)
""",
    "a deep recursion": """
import sys
sys.setrecursionlimit(20000)
def down(n): return 0 if n == 0 else down(n - 1)
def solve(xs): return down(15000) + sum(xs)
""",
    "a setting refused politely": """
import time
def solve(xs):
    try:
        time.clock_settime(time.CLOCK_REALTIME, 0)
    except PermissionError:
        pass
    return sum(xs)
""",
    "a callable object": "class S:\n    def __call__(self, xs): return sum(xs)\nsolve = S()\n",
}


def kind_of(executor: Executor, text: str) -> tuple[object, object]:
    verdict = judge(executor, CorpusFile("answer", text.encode(), "function", frozenset()))
    return verdict["kind"], verdict


@pytest.mark.parametrize("name", CALLS)
def test_reaching_out_ends_the_case(executor: Executor, name: str) -> None:
    kind, verdict = kind_of(executor, CALLS[name])
    assert kind == "sandbox_violation", verdict


def test_the_call_is_named_where_it_can_be_known(executor: Executor) -> None:
    _, verdict = kind_of(executor, "import socket\ndef solve(xs): socket.socket()\n")
    assert "socket(0x2, 0x80001, 0x0)" in str(verdict)


@pytest.mark.parametrize("name", FORGERIES)
def test_forgery_is_no_pass(executor: Executor, name: str) -> None:
    expected, text = FORGERIES[name]
    kind, verdict = kind_of(executor, text)
    assert kind == expected, verdict


@pytest.mark.parametrize("name", LIMITS)
def test_limits_hold(executor: Executor, name: str) -> None:
    expected, text = LIMITS[name]
    kind, verdict = kind_of(executor, text)
    assert kind == expected, verdict


@pytest.mark.parametrize("name", HONEST)
def test_odd_but_honest_answers_pass(executor: Executor, name: str) -> None:
    kind, verdict = kind_of(executor, HONEST[name])
    assert kind == "pass", verdict


def test_no_descriptor_of_the_supervisor_can_be_opened(executor: Executor) -> None:
    """The answer returns 100000 plus how many of its parents' descriptors it could open or list."""
    text = """
import os
def solve(xs):
    opened = 0
    for parent in {os.getppid(), 1}:
        for fd in range(64):
            try:
                os.open(f"/proc/{parent}/fd/{fd}", os.O_RDWR)
                opened += 1
            except OSError:
                pass
    return 100000 + opened
"""
    _, verdict = kind_of(executor, text)
    assert verdict["first_observed"] == "100000"  # type: ignore[index]


def test_no_inherited_descriptor_beside_the_four(executor: Executor) -> None:
    text = """
import os
def solve(xs):
    found = []
    for fd in range(1024):
        try:
            os.fstat(fd)
            found.append(fd)
        except OSError:
            pass
    return found
"""
    _, verdict = kind_of(executor, text)
    assert verdict["first_observed"] == "[0, 1, 2, 3]"  # type: ignore[index]


def test_inputs_and_results_of_earlier_cases_are_not_in_memory(executor: Executor) -> None:
    """A case's process is a copy of its parent's: what passed through the parent must be gone from there."""
    mark = "m4rk3r-of-an-earlier-case"
    # Far enough back that the next payload does not lie over it.
    kind_of(executor, f"# {'-' * 8000}\ndef solve(xs): return '{mark}'\n")
    text = f"""
import gc, sys
def solve(xs):
    needle = "{mark[::-1]}"[::-1].encode()
    frame, around = sys._getframe().f_back, []
    while frame:
        around += frame.f_locals.values()
        frame = frame.f_back
    seen, found = set(), 0
    for _ in range(4):
        around = [thing for thing in around if id(thing) not in seen]
        seen.update(map(id, around))
        found += sum(needle in thing for thing in around if type(thing) in (bytes, bytearray))
        around = gc.get_referents(*around)
    return 100000 + found
"""
    _, verdict = kind_of(executor, text)
    assert verdict["first_observed"] == "100000"  # type: ignore[index]


PROGRAMS = {
    "streams of an ordinary program": """
import sys
assert not sys.stdout.seekable() and not sys.stdout.isatty()
data = sys.stdin.buffer.read()
sys.stdin.seek(0)
assert sys.stdin.read() == data.decode()
sys.stderr.write("\\u20ac\\n")
print(sum(map(int, data.split())))
""",
    "standard input by its descriptor": "print(sum(map(int, open(0).read().split())))\nexit()\n",
    "output at its exit": """
import atexit, sys
atexit.register(lambda: print(total))
total = sum(map(int, sys.stdin.read().split()))
""",
    "a main guard and a thread": """
import sys, threading
def main():
    print(sum(map(int, sys.stdin.read().split())))
if __name__ == "__main__":
    threading.Thread(target=main).start()
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_run_as_they_would_by_themselves(executor: Executor, name: str) -> None:
    verdict = judge(executor, CorpusFile("answer", PROGRAMS[name].encode(), "program", frozenset()))
    assert verdict["kind"] == "pass", verdict
