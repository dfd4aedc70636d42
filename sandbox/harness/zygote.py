"""The warm parent inside the sandbox: forks one process a case, measures it, ends it, cleans up after it.

It never runs an answer, holds no expected value, and keeps nothing of a case once it is over.
"""

import gc
import json
import os
import select
import signal
import socket
import struct
import sys
import time

import case
import confine
import scratch

REQUEST = struct.Struct(">4sIIIIIIIB")
"""Magic, payload length, wall ms, CPU ms, memory MiB, output bytes, scratch MiB, processes, flags."""
MAGIC = b"AGc1"
LISTEN, WATCH_SCRATCH, KILL_ALL = 1, 2, 4

FRAME = struct.Struct(">BI")
HELLO, STDOUT, STDERR, RESULT, END = range(5)
ENDING = struct.Struct(">BBBBBQQQIQ")
"""Why, exited, exit code or signal, settled, clean, CPU us, wall us, waited us, out-of-memory kills, peak KiB.
Settled: the case had given up its rights, so what came after was the answer's. A watched call's name follows."""
SLACK = 4096
"""A result is value and arguments as hex text, and the harness's own words around them."""

PATIENCE = 4
"""On a busy host a case may take this many times its wall limit, as long as it is the host that makes it wait."""

WHYS = ("", "cpu_limit", "wall_limit", "output_limit", "scratch_limit", "forbidden_call")

PRELOADED = """
abc array ast asyncio bisect collections contextlib copy dataclasses datetime decimal enum fractions functools
heapq inspect itertools json math numbers operator random re statistics string tempfile textwrap traceback types
typing unicodedata concurrent.futures linecache runpy locale
"""


class Request:
    def __init__(self, header):
        (
            self.magic, self.length, self.wall_ms, self.cpu_ms, self.memory_mb, self.output_cap,
            self.scratch_mb, self.processes, self.flags,
        ) = REQUEST.unpack(header)  # fmt: skip
        self.listen = bool(self.flags & LISTEN)


class Wire:
    """Both ends to the host. One buffer for all traffic, wiped after use: a later case inherits this memory."""

    def __init__(self):
        self.incoming, self._out = os.dup(0), os.dup(1)
        self._buffer = bytearray(1 << 16)

    def header(self, size):
        data = b""
        while len(data) < size:
            part = os.read(self.incoming, size - len(data))
            if not part:
                os._exit(0)  # the host is done
            data += part
        return data

    def pass_on(self, length, descriptor):
        """Streams a payload through to the case's process."""
        while length:
            view = memoryview(self._buffer)[: min(length, len(self._buffer))]
            count = os.readv(self.incoming, [view])
            if not count:
                os._exit(0)
            length -= count
            part = view[:count]
            try:
                while part:
                    part = part[os.write(descriptor, part) :]
            except BrokenPipeError:
                pass  # the case is gone already; its ending says why
            view[:count] = bytes(count)

    def frame(self, kind, data=b""):
        self._write(memoryview(FRAME.pack(kind, len(data)) + data))

    def forward(self, kind, descriptor):
        """Sends what is waiting on a pipe as one frame. Returns its length, 0 at its end."""
        view = memoryview(self._buffer)
        try:
            count = os.readv(descriptor, [view])
        except BlockingIOError:
            return -1
        if count:
            self._write(memoryview(FRAME.pack(kind, count)))
            self._write(view[:count])
            view[:count] = bytes(count)
        return count

    def _write(self, data):
        while data:
            data = data[os.write(self._out, data) :]


class Case:
    """One forked case as its parent sees it."""

    def __init__(self, request, wire, scratch_dir, file_rules, call_filter):
        self.request, self.wire, self.scratch_dir = request, wire, scratch_dir
        self.watches_scratch = bool(request.flags & WATCH_SCRATCH)
        self.why, self.call, self.status, self.usage = 0, "", None, None
        self.clean, self.waited_us = True, 0
        self.kills_before = out_of_memory_kills()
        self.started = time.monotonic()
        self.channel, theirs = socket.socketpair()
        self.channel.setblocking(False)
        payload, stdout, stderr, result = os.pipe(), os.pipe(), os.pipe(), os.pipe()
        inside = (payload[0], stdout[1], stderr[1], result[1])
        self.pid = os.fork()
        if self.pid == 0:
            _become_case(request, scratch_dir, file_rules, call_filter, inside, theirs)
        theirs.close()
        for descriptor in inside:
            os.close(descriptor)
        self.payload = payload[1]
        self.streams = {stdout[0]: STDOUT, stderr[0]: STDERR, result[0]: RESULT}
        self.seen = {STDOUT: 0, STDERR: 0, RESULT: 0}
        self.caps = {STDOUT: request.output_cap, STDERR: request.output_cap, RESULT: 4 * request.output_cap + SLACK}
        self.listener, self.settled = None, False

    def run(self):
        self.wire.pass_on(self.request.length, self.payload)
        os.close(self.payload)
        self._watch()
        self._drain()
        self._clean_up()
        self.wire.frame(END, self._ending())

    def _watch(self):
        poll = select.poll()
        for descriptor in self.streams:
            os.set_blocking(descriptor, False)
            poll.register(descriptor, select.POLLIN)
        poll.register(self.channel, select.POLLIN)
        poll.register(self.wire.incoming, 0)
        exit_seen = _exit_descriptor(self.pid)
        if exit_seen is not None:
            poll.register(exit_seen, select.POLLIN)
        tick_ms = 2 if exit_seen is None else 20
        deadline = self.started + self.request.wall_ms / 1000
        next_look = 0.0
        while self.status is None:
            for descriptor, events in poll.poll(tick_ms):
                self._serve(descriptor, events, poll)
            now = time.monotonic()
            if not self.why and now > deadline:
                deadline = self._later(now)
            elif not self.why and _cpu_s(self.pid) * 1000 > self.request.cpu_ms:
                self._end("cpu_limit")
            elif self.watches_scratch and not self.why and now > next_look:
                next_look = now + 0.1
                self._check_scratch()
            self._reap()
        if exit_seen is not None:
            os.close(exit_seen)

    def _later(self, now):
        """Ends the case at its wall limit, or gives it the time that the host kept it waiting for a processor."""
        wall_s = self.request.wall_ms / 1000
        self.waited_us = _waited_us(self.pid)
        later = self.started + wall_s + self.waited_us / 1e6
        if later > now and now < self.started + PATIENCE * wall_s:
            return later
        self._end("wall_limit")
        return now

    def _serve(self, descriptor, events, poll):
        if descriptor in self.streams:
            self._forward(descriptor)
            if descriptor not in self.streams:
                poll.unregister(descriptor)
        elif descriptor == self.channel.fileno():
            poll.unregister(descriptor)
            self._meet()
            if self.listener is not None:
                poll.register(self.listener, select.POLLIN)
        elif descriptor == self.wire.incoming:
            os._exit(0)  # the host hung up; the case dies with its parent
        elif descriptor == self.listener:
            poll.unregister(descriptor)
            if events & select.POLLIN:  # it also hangs up, when the case ends
                self.call = confine.watched_call(self.listener)
                self._end("forbidden_call")

    def _meet(self):
        """The case says that it is settled, and hands over where its watched calls are reported."""
        if not self.settled:
            self.settled, self.listener = confine.receive_descriptor(self.channel)

    def _forward(self, descriptor):
        """False once the stream is at its end, or at its cap: beyond it nothing is sent on."""
        kind = self.streams[descriptor]
        count = self.wire.forward(kind, descriptor)
        self.seen[kind] += max(count, 0)
        over = self.seen[kind] > self.caps[kind]
        if over:
            self._end("output_limit")
        if over or count == 0:
            os.close(descriptor)
            del self.streams[descriptor]
            return False
        return count > 0

    def _end(self, why):
        if not self.why:
            self.why = WHYS.index(why)
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)

    def _reap(self):
        reaped, status, usage = os.wait4(self.pid, os.WNOHANG)
        if reaped:
            self.status, self.usage = status, usage

    def _drain(self):
        """What the pipes still hold. The case is dead, so this ends."""
        for descriptor in list(self.streams):
            while self._forward(descriptor):
                pass
        for descriptor in self.streams:
            os.close(descriptor)
        self._meet()
        if self.listener is not None:
            os.close(self.listener)
        self.channel.close()

    def _clean_up(self):
        if self.request.flags & KILL_ALL:
            _kill_strays()
        if self.watches_scratch and not self.why:
            self._check_scratch()
        self.clean = scratch.empty(self.scratch_dir)

    def _check_scratch(self):
        if scratch.exceeds(self.scratch_dir, self.request.scratch_mb << 20):
            self._end("scratch_limit")

    def _ending(self):
        exited = os.WIFEXITED(self.status)
        cpu_us = int((self.usage.ru_utime + self.usage.ru_stime) * 1e6)
        wall_us = int((time.monotonic() - self.started) * 1e6)
        kills = out_of_memory_kills() - self.kills_before
        code = os.WEXITSTATUS(self.status) if exited else os.WTERMSIG(self.status)
        fixed = ENDING.pack(
            self.why, exited, code, self.settled, self.clean, cpu_us, wall_us, self.waited_us, max(kills, 0), self.usage.ru_maxrss
        )
        return fixed + self.call.encode()


def _become_case(request, scratch_dir, file_rules, call_filter, inside, channel):
    try:
        os.setsid()
        confine.process_flag(confine.PR_SET_PDEATHSIG, signal.SIGKILL)
        # Dumpable while it settles, so that it may write its own files under /proc.
        confine.process_flag(confine.PR_SET_DUMPABLE, 1)
        for target, descriptor in enumerate(inside):
            os.dup2(descriptor, target)
        case.run(request, scratch_dir, file_rules, call_filter, channel)
    finally:
        os._exit(case.SETUP_FAILED)


def _exit_descriptor(pid):
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _cpu_s(pid):
    """CPU time of all threads of a process: the clock whose id the kernel derives from the process id."""
    try:
        return time.clock_gettime((~pid << 3) | 2)
    except OSError:
        return 0.0


def _waited_us(pid):
    """How long the process was ready to run while the host gave it no processor."""
    try:
        with open("/proc/%d/schedstat" % pid) as file:
            return int(file.read().split()[1]) // 1000
    except (OSError, ValueError, IndexError):
        return 0


def _kill_strays():
    try:
        os.kill(-1, signal.SIGKILL)
    except OSError:
        return  # nobody there
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def out_of_memory_kills():
    """Kills by the memory limit of this sandbox's control group (v2, then v1), where it can be seen."""
    for path in ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"):
        try:
            with open(path) as file:
                fields = dict(line.split() for line in file)
                return int(fields.get("oom_kill", 0))
        except (OSError, ValueError):
            continue
    return 0


def _drop_to(uid):
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def _file_rules(config):
    readable = config["readable"]
    if readable is None:
        readable = ["/" + name for name in os.listdir("/") if name not in ("proc", "sys")]
    try:
        return confine.FileRules(readable, [config["scratch"], os.devnull])
    except OSError:
        if config["file_rules"] == "required":
            raise
        return None


def _status():
    try:
        with open("/proc/self/status") as file:
            return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    except OSError:
        return {}


def main(config):
    """Serves cases until the host closes its end.

    `config`: scratch; uid to become, or null; readable paths, or null for all of the sandbox but /proc and
    /sys; file_rules: whether Landlock is "required" or only "wanted" behind other walls.
    """
    wire = Wire()
    try:
        file_rules, call_filter = _settle(config)
    except OSError as error:
        wire.frame(HELLO, json.dumps({"failed": str(error)}).encode())
        return
    gc.collect()
    gc.freeze()
    facts = {
        "python": sys.version.split()[0],
        "uid": os.getuid(),
        "capabilities": _status().get("CapEff", "unknown"),
        "landlock": file_rules.version if file_rules else None,
    }
    wire.frame(HELLO, json.dumps(facts).encode())
    while True:
        request = Request(wire.header(REQUEST.size))
        if request.magic != MAGIC:
            os._exit(3)
        Case(request, wire, config["scratch"], file_rules, call_filter).run()


def _settle(config):
    """Becomes the user that answers run as, takes this process out of their sight, warms up."""
    if config["uid"] is not None:
        _drop_to(config["uid"])
    confine.process_flag(confine.PR_SET_DUMPABLE, 0)
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(0, 1)
    for name in PRELOADED.split():
        __import__(name)
    filtered = _status().get("Seccomp") == "2"
    return _file_rules(config), confine.CallFilter(under_another_filter=filtered)
