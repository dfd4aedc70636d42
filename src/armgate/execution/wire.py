"""The host's end of the wire: requests out, and the frames of one case in. The peer is not trusted.

Whatever arrives is a value: nothing that a sandbox sends raises here, blocks or grows without bound.
"""

from __future__ import annotations

import dataclasses
import marshal
import struct
from typing import Literal

from armgate.model.execution import Ended
from armgate.model.plain import Plain

REQUEST = struct.Struct(">4sIIIIIIIB")
MAGIC = b"AGc1"
LISTEN, WATCH_SCRATCH, KILL_ALL = 1, 2, 4

FRAME = struct.Struct(">BI")
HELLO, STDOUT, STDERR, RESULT, END = range(5)
LARGEST_FRAME = 1 << 16

ENDING = struct.Struct(">BBBBBQQQIQ")
WHYS = (
    None,
    Ended.CPU_LIMIT,
    Ended.WALL_LIMIT,
    Ended.OUTPUT_LIMIT,
    Ended.SCRATCH_LIMIT,
    Ended.FORBIDDEN_CALL,
)
LONGEST_CALL = 200


@dataclasses.dataclass(frozen=True)
class CaseRequest:
    """One case as a sandbox receives it. Expected values have no field here."""

    kind: Literal["function", "program"]
    text: bytes
    seal: str
    entry: str | None = None
    arguments: list[Plain] | None = None
    stdin: str = ""
    unmutated: bool = False
    cpu_s: float = 2.0
    wall_s: float = 8.0
    memory_mb: int = 256
    output_bytes: int = 256 << 10
    scratch_mb: int = 64

    def encoded(self, flags: int, processes: int) -> bytes:
        payload: dict[str, object] = {"kind": self.kind, "text": self.text, "seal": self.seal.encode()}
        if self.kind == "function":
            payload |= {"entry": self.entry, "args": self.arguments, "unmutated": self.unmutated}
        else:
            payload["stdin"] = self.stdin.encode("utf-8", "surrogatepass")
        body = marshal.dumps(payload, 2)  # a version that every Python 3 reads
        header = REQUEST.pack(
            MAGIC,
            len(body),
            round(self.wall_s * 1000),
            round(self.cpu_s * 1000),
            self.memory_mb,
            self.output_bytes,
            self.scratch_mb,
            processes,
            flags,
        )
        return header + body


@dataclasses.dataclass(frozen=True)
class Ending:
    """The last frame of a case, as its parent in the sandbox measured it."""

    ended: Ended
    exit_code: int | None
    signal: int | None
    clean: bool
    cpu_s: float
    wall_s: float
    waited_s: float
    oom_kills: int
    peak_kb: int
    call: str | None


class CaseStream:
    """Collects the frames of one case. `lost` says what made the rest unreadable; then nothing counts."""

    def __init__(self, output_bytes: int) -> None:
        self.channels = {STDOUT: bytearray(), STDERR: bytearray(), RESULT: bytearray()}
        self.ending: Ending | None = None
        self.lost: str | None = None
        self._rest = bytearray()
        # The harness stops a stream at its cap; the result's is wider, since text travels as hex.
        self._caps = {
            STDOUT: output_bytes + LARGEST_FRAME,
            STDERR: output_bytes + LARGEST_FRAME,
            RESULT: 4 * output_bytes + LARGEST_FRAME,
        }

    @property
    def over(self) -> bool:
        return self.ending is not None or self.lost is not None

    def feed(self, data: bytes) -> None:
        self._rest += data
        while self.lost is None and len(self._rest) >= FRAME.size:
            kind, length = FRAME.unpack_from(self._rest)
            if kind not in (*self.channels, END) or length > LARGEST_FRAME:
                self.lost = "a frame of no known form"
            elif self.ending is not None:
                self.lost = "more frames after the last one"
            elif len(self._rest) < FRAME.size + length:
                return
            else:
                body = bytes(self._rest[FRAME.size : FRAME.size + length])
                del self._rest[: FRAME.size + length]
                self._take(kind, body)
        if self.ending is not None and self._rest:
            self.lost = "more bytes after the last frame"

    def _take(self, kind: int, body: bytes) -> None:
        if kind == END:
            self.ending = read_ending(body)
            if self.ending is None:
                self.lost = "an ending of no known form"
            return
        self.channels[kind] += body
        if len(self.channels[kind]) > self._caps[kind]:
            self.lost = "more output than the harness lets through"


def read_ending(body: bytes) -> Ending | None:
    """The ending, or None where the bytes are not one."""
    if not ENDING.size <= len(body) <= ENDING.size + LONGEST_CALL:
        return None
    why, exited, code, settled, clean, cpu, wall, waited, kills, peak = ENDING.unpack_from(body)
    if why >= len(WHYS) or max(exited, settled, clean) > 1:
        return None
    ended = WHYS[why] or (Ended.EXITED if exited else Ended.SIGNALLED)
    call = body[ENDING.size :].decode("ascii", "replace")
    return Ending(
        ended=ended if settled else Ended.NOT_SETTLED,
        exit_code=code if exited else None,
        signal=None if exited else code,
        clean=bool(clean),
        cpu_s=cpu / 1e6,
        wall_s=wall / 1e6,
        waited_s=waited / 1e6,
        oom_kills=kills,
        peak_kb=peak,
        call=call or None,
    )
