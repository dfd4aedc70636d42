"""Takes rights away from the calling process: system calls, files, resources, core dumps. Linux only."""

import array
import ctypes
import os
import platform
import resource
import socket
import struct

import bpf

LIBC = ctypes.CDLL(None, use_errno=True)
MACHINE = platform.machine()

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 1, 4, 38
SYS_SECCOMP = {"x86_64": 317, "aarch64": 277}
SECCOMP_SET_MODE_FILTER, NEW_LISTENER = 1, 1 << 3
SYS_LANDLOCK_CREATE, SYS_LANDLOCK_ADD, SYS_LANDLOCK_RESTRICT = 444, 445, 446
"""Landlock's calls have these numbers on every architecture."""

NOTIFICATION_RECEIVE = 0xC0502100
NOTIFICATION_SIZE = 80
"""sizeof(struct seccomp_notif): id u64, pid u32, flags u32, then nr i32, arch u32, ip u64, args u64[6]."""


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]


def process_flag(option, value):
    if LIBC.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl %d" % option)


def limit(kind, value):
    """Lowers a resource limit, soft and hard; a stricter one that is already there stays."""
    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


class CallFilter:
    """The system-call filter, assembled once and installed in each case with the case's own process id."""

    _STAND_IN = 0x7FFFFFFF
    """Larger than any process id; where it stands in the program, the real one is put."""

    def __init__(self, under_another_filter):
        if MACHINE not in bpf.ARCHITECTURES:
            raise OSError(ctypes.get_errno(), "no table of system calls for " + MACHINE)
        self._reporting = self._assemble(bpf.NOTIFY, under_another_filter)
        self._killing = self._assemble(bpf.KILL_PROCESS, under_another_filter)

    def _assemble(self, watch, under_another_filter):
        program = bpf.program(MACHINE, self._STAND_IN, watch, under_another_filter)
        code = bytearray(b"".join(struct.pack("=HBBI", *instruction) for instruction in program))
        places = [8 * i + 4 for i, (_, _, _, k) in enumerate(program) if k == self._STAND_IN]
        return code, places

    def install(self, pid, listen):
        """Returns a descriptor on which watched calls are reported, or None where the kernel offers none.

        A watched call then kills the process with SIGSYS.
        """
        process_flag(PR_SET_NO_NEW_PRIVS, 1)
        if listen:
            listener = self._install(self._reporting, pid, NEW_LISTENER)
            if listener >= 0:
                return listener
        if self._install(self._killing, pid, 0) != 0:
            raise OSError(ctypes.get_errno(), "seccomp")
        return None

    def _install(self, assembled, pid, flags):
        code, places = assembled
        for place in places:
            struct.pack_into("=I", code, place, pid)
        buffer = (ctypes.c_char * len(code)).from_buffer(code)
        header = _Program(len(code) // 8, ctypes.addressof(buffer))
        return LIBC.syscall(SYS_SECCOMP[MACHINE], SECCOMP_SET_MODE_FILTER, flags, ctypes.byref(header))


def send_descriptor(channel, descriptor):
    rights = (
        []
        if descriptor is None
        else [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]).tobytes())]
    )
    channel.sendmsg([b"+" if rights else b"-"], rights)


def receive_descriptor(channel):
    """Whether the peer reported, and the descriptor that it sent along, if any. Does not wait."""
    size = array.array("i").itemsize
    try:
        data, ancillary, _, _ = channel.recvmsg(1, socket.CMSG_SPACE(size))
    except OSError:
        return False, None
    for level, kind, rights in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            return True, struct.unpack("i", rights[:size])[0]
    return bool(data), None


def watched_call(listener):
    """Reads one report: the name of the call and its first three arguments."""
    buffer = ctypes.create_string_buffer(NOTIFICATION_SIZE)
    if LIBC.ioctl(listener, ctypes.c_ulong(NOTIFICATION_RECEIVE), buffer) != 0:
        return "a call that was given up"
    number = struct.unpack_from("i", buffer.raw, 16)[0]
    arguments = struct.unpack_from("3Q", buffer.raw, 32)
    return "%s(%s)" % (bpf.name_of(MACHINE, number), ", ".join("%#x" % a for a in arguments))


class FileRules:
    """A Landlock ruleset, made once and applied in each case: some trees readable, one tree writable."""

    EXECUTE, WRITE, READ, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
    TRUNCATE, IOCTL_DEV = 1 << 14, 1 << 15
    OF_A_FILE = EXECUTE | WRITE | READ | TRUNCATE | IOCTL_DEV
    MAKE_DEVICES_AND_SOCKETS = (1 << 6) | (1 << 9) | (1 << 10) | (1 << 11)

    def __init__(self, readable, writable):
        version = LIBC.syscall(SYS_LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1)
        if version < 1:
            why = "Landlock is not available (it needs Linux 5.13, enabled at boot)"
            raise OSError(ctypes.get_errno(), why)
        self.version = version
        rights = (1 << 13) - 1
        for since, right in ((2, 1 << 13), (3, self.TRUNCATE), (5, self.IOCTL_DEV)):
            rights |= right if version >= since else 0
        network = 0b11 if version >= 4 else 0
        scopes = 0b11 if version >= 6 else 0
        attributes = struct.pack("=QQQ", rights, network, scopes)
        size = 24 if version >= 6 else 16 if version >= 4 else 8
        self.ruleset = LIBC.syscall(SYS_LANDLOCK_CREATE, attributes, ctypes.c_size_t(size), 0)
        if self.ruleset < 0:
            raise OSError(ctypes.get_errno(), "Landlock ruleset")
        for path in readable:
            self._allow(path, self.READ | self.READ_DIR)
        for path in writable:
            self._allow(path, rights & ~self.EXECUTE & ~self.MAKE_DEVICES_AND_SOCKETS)

    def _allow(self, path, rights):
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            return  # what is not there needs no rule
        try:
            if not os.path.isdir(path):
                rights &= self.OF_A_FILE
            rule = struct.pack("=Qi", rights, descriptor)
            if LIBC.syscall(SYS_LANDLOCK_ADD, self.ruleset, 1, rule, 0) != 0:
                raise OSError(ctypes.get_errno(), "Landlock rule for " + path)
        finally:
            os.close(descriptor)

    def apply(self):
        process_flag(PR_SET_NO_NEW_PRIVS, 1)
        if LIBC.syscall(SYS_LANDLOCK_RESTRICT, self.ruleset, 0) != 0:
            raise OSError(ctypes.get_errno(), "Landlock restrict")
        os.close(self.ruleset)
