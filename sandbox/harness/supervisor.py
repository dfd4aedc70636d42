"""One case from outside: started, measured, ended at its limits, cleaned up after, reported."""

import os
import select
import signal
import socket
import time

import case
import confine
import measure
import scratch
import wire

SLACK = 4096
"""A result is value and arguments as hex text, and the harness's own words around them."""

PATIENCE = 4
"""On a busy host a case may take this many wall limits, as long as it is the host that makes it wait."""


class Supervised:
    """One forked case as its parent sees it."""

    def __init__(self, request, to_host, scratch_dir, file_rules, call_filter, memory_kills):
        self.request, self.to_host, self.scratch_dir = request, to_host, scratch_dir
        self.memory_kills = memory_kills
        self.watches_scratch = request.asks(wire.WATCH_SCRATCH)
        self.why, self.call, self.status, self.usage = 0, "", None, None
        self.clean, self.waited_us = True, 0
        self.started = time.monotonic()
        self.channel, theirs = socket.socketpair()
        self.channel.setblocking(False)
        payload, stdout, stderr, result = os.pipe(), os.pipe(), os.pipe(), os.pipe()
        inside = (payload[0], stdout[1], stderr[1], result[1])
        self.pid = os.fork()
        if self.pid == 0:
            _become_case(request, file_rules, call_filter, inside, theirs)
        theirs.close()
        for descriptor in inside:
            os.close(descriptor)
        self.payload = payload[1]
        self.streams = {stdout[0]: wire.STDOUT, stderr[0]: wire.STDERR, result[0]: wire.RESULT}
        self.room = dict.fromkeys((wire.STDOUT, wire.STDERR), request.output_cap)
        self.room[wire.RESULT] = 4 * request.output_cap + SLACK
        self.listener, self.settled = None, False

    def run(self):
        self.to_host.pass_on(self.request.length, self.payload)
        os.close(self.payload)
        self._watch()
        self._drain()
        self._clean_up()
        self.to_host.frame(wire.END, self._ending())

    def _watch(self):
        poll = select.poll()
        for descriptor in self.streams:
            os.set_blocking(descriptor, False)
            poll.register(descriptor, select.POLLIN)
        poll.register(self.channel, select.POLLIN)
        poll.register(self.to_host.incoming, 0)
        exit_seen = measure.exit_descriptor(self.pid)
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
            elif not self.why and measure.cpu_s(self.pid) * 1000 > self.request.cpu_ms:
                self._end("cpu_limit")
            elif self.watches_scratch and not self.why and now > next_look:
                next_look = now + 0.1
                if self._exceeds(budget_s=0.05):
                    self._end("scratch_limit")
            self._reap()
        if exit_seen is not None:
            os.close(exit_seen)

    def _later(self, now):
        """Ends the case at its wall limit, or adds the time that the host kept it waiting for a processor."""
        wall_s = self.request.wall_ms / 1000
        self.waited_us = measure.waited_us(self.pid)
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
        elif descriptor == self.to_host.incoming:
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
        count = self.to_host.forward(kind, descriptor)
        self.room[kind] -= max(count, 0)
        over = self.room[kind] < 0
        if over:
            self._end("output_limit")
        if over or count == 0:
            os.close(descriptor)
            del self.streams[descriptor]
            return False
        return count > 0

    def _end(self, why):
        if not self.why:
            self.why = wire.WHYS.index(why)
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
        if self.request.asks(wire.KILL_ALL):
            _kill_strays()
        # Where no quota stops the write, what is left at the end is measured; not measurable is too much.
        if self.watches_scratch and self._exceeds(budget_s=5.0) is not False:
            self._end("scratch_limit")
        self.clean = scratch.empty(self.scratch_dir)

    def _exceeds(self, budget_s):
        return scratch.exceeds(self.scratch_dir, self.request.scratch_mb << 20, budget_s)

    def _ending(self):
        exited = os.WIFEXITED(self.status)
        cpu_us = int((self.usage.ru_utime + self.usage.ru_stime) * 1e6)
        wall_us = int((time.monotonic() - self.started) * 1e6)
        code = os.WEXITSTATUS(self.status) if exited else os.WTERMSIG(self.status)
        kills = self.memory_kills.new() if code == signal.SIGKILL and not exited else 0
        fixed = wire.ENDING.pack(
            self.why,
            exited,
            code,
            self.settled,
            self.clean,
            cpu_us,
            wall_us,
            self.waited_us,
            kills,
            self.usage.ru_maxrss,
        )
        return fixed + self.call.encode()


def _become_case(request, file_rules, call_filter, inside, channel):
    try:
        os.setsid()
        confine.process_flag(confine.PR_SET_PDEATHSIG, signal.SIGKILL)
        # Dumpable while it settles, so that it may write its own files under /proc.
        confine.process_flag(confine.PR_SET_DUMPABLE, 1)
        for target, descriptor in enumerate(inside):
            os.dup2(descriptor, target)
        case.run(request, file_rules, call_filter, channel)
    finally:
        os._exit(case.SETUP_FAILED)


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
