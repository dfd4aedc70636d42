"""The sandbox's end of the wire to the host: requests in, frames out, and nothing kept of either."""

import os
import struct

REQUEST = struct.Struct(">4sIIIIIIIB")
"""Magic, payload length, wall ms, CPU ms, memory MiB, output bytes, scratch MiB, processes, flags."""
MAGIC = b"AGc1"
LISTEN, WATCH_SCRATCH, KILL_ALL = 1, 2, 4

FRAME = struct.Struct(">BI")
HELLO, STDOUT, STDERR, RESULT, END = range(5)

ENDING = struct.Struct(">BBBBBQQQIQ")
"""Why, exited, exit code or signal, settled, clean, CPU us, wall us, waited us, memory kills, peak KiB.

Settled: the case had given up its rights, so what came after was the answer's doing. The name of a watched
call follows the fixed part.
"""
WHYS = ("", "cpu_limit", "wall_limit", "output_limit", "scratch_limit", "forbidden_call")


class Request:
    """The header of one case, as the host sends it before the payload."""

    def __init__(self, header):
        fields = REQUEST.unpack(header)
        self.magic, self.length, self.wall_ms, self.cpu_ms, self.memory_mb = fields[:5]
        self.output_cap, self.scratch_mb, self.processes, self.flags = fields[5:]

    def asks(self, flag):
        return bool(self.flags & flag)


class Wire:
    """Both directions. One buffer for all traffic, wiped after use: a later case inherits this memory."""

    def __init__(self):
        self.incoming, self._outgoing = os.dup(0), os.dup(1)
        self._buffer = bytearray(1 << 16)

    def request(self):
        data = b""
        while len(data) < REQUEST.size:
            part = os.read(self.incoming, REQUEST.size - len(data))
            if not part:
                os._exit(0)  # the host is done
            data += part
        return Request(data)

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
        """Sends what waits on a pipe as one frame. Returns its length, 0 at the end, -1 if nothing waits."""
        view = memoryview(self._buffer)
        try:
            count = os.readv(descriptor, [view[FRAME.size :]])
        except BlockingIOError:
            return -1
        if count:
            FRAME.pack_into(self._buffer, 0, kind, count)
            self._write(view[: FRAME.size + count])
            view[FRAME.size : FRAME.size + count] = bytes(count)
        return count

    def _write(self, data):
        try:
            while data:
                data = data[os.write(self._outgoing, data) :]
        except BrokenPipeError:
            os._exit(0)
