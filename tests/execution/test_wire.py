"""The host's end of the wire against peers that say anything: no pass, no hang, no exception."""

from __future__ import annotations

import struct
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armgate.errors import SandboxUnavailable
from armgate.execution.channels import ChannelClosed, ChannelSilent
from armgate.execution.harness import Harness
from armgate.execution.preparation import PreparedCase
from armgate.execution.recording import case_run
from armgate.execution.sandbox import Sandbox
from armgate.execution.wire import (
    END,
    ENDING,
    FRAME,
    HELLO,
    LARGEST_FRAME,
    RESULT,
    STDERR,
    STDOUT,
    CaseRequest,
    CaseStream,
    read_ending,
)
from armgate.model.case_kind import case_finding
from armgate.model.execution import Ended, Kind, Limits
from armgate.model.plain import Comparison, encode
from armgate.model.task import Case, Task
from support.harness import harness_modules

SEAL = "c0de" * 8
TASK = Task(
    schema="armgate/task/v1",
    id="t",
    kind="function",
    entry="f",
    prompt="-",
    cases=(Case(args=[1], expect=6),),
)
CASE = PreparedCase("fixed-0", [1], "", encode(6))


def frame(kind: int, body: bytes = b"") -> bytes:
    return FRAME.pack(kind, len(body)) + body


def ending(call: bytes = b"", **changes: int) -> bytes:
    fields = {
        "why": 0,
        "exited": 1,
        "code": 0,
        "settled": 1,
        "clean": 1,
        "cpu": 1000,
        "wall": 2000,
        "waited": 0,
        "kills": 0,
        "peak": 9000,
    }
    return ENDING.pack(*(fields | changes).values()) + call


class Peer:
    """A channel whose other end is a list of what it says; afterwards it closes, or falls silent."""

    def __init__(self, *said: bytes, silent: bool = False) -> None:
        self.said = [frame(HELLO, b"{}"), *said]
        self.silent = silent
        self.heard = b""
        self.closed = False

    def send(self, data: bytes, deadline: float) -> None:
        self.heard += data

    def receive(self, deadline: float) -> bytes:
        while self.said:
            data = self.said.pop(0)
            if data:
                return data
        if self.silent:
            raise ChannelSilent
        raise ChannelClosed

    def last_words(self) -> str:
        return "an imagined reason"

    def close(self) -> None:
        self.closed = True


HARNESS = Harness((("zygote", ""),), "sha256:" + "0" * 64)
REQUEST = CaseRequest(kind="function", text=b"", seal=SEAL, entry="f", arguments=[1], output_bytes=4096)


def kind_after(*said: bytes, silent: bool = False) -> Kind:
    sandbox = Sandbox(Peer(*said, silent=silent), HARNESS, {}, flags=0)
    observed = sandbox.run(REQUEST)
    run = case_run(CASE, observed, SEAL, whole_stdout=False)
    return case_finding(run, TASK, Comparison(), Limits()).kind


GOOD = (frame(RESULT, b"Vi0x6;." + SEAL.encode()), frame(END, ending()))


def test_what_an_honest_peer_says_is_a_pass() -> None:
    assert kind_after(*GOOD) is Kind.PASS
    assert kind_after(b"".join(GOOD)) is Kind.PASS
    assert kind_after(*(bytes([byte]) for byte in b"".join(GOOD))) is Kind.PASS


@pytest.mark.parametrize(
    "said",
    [
        (),
        GOOD[:1],
        (*GOOD, frame(STDOUT, b"late")),
        (GOOD[0] + GOOD[1] + b"x",),
        (GOOD[0] + GOOD[1] + GOOD[1],),
        (frame(9), *GOOD),
        (frame(HELLO), *GOOD),
        (FRAME.pack(RESULT, LARGEST_FRAME + 1), *GOOD),
        (frame(END, ending()[:-1]),),
        (GOOD[0], frame(END, ending(settled=0))),
        (GOOD[0], frame(END, ending(why=250))),
        (GOOD[0], frame(END, ending(why=5))),
        (GOOD[0], frame(END, ending(exited=0, code=9))),
        (GOOD[0], frame(END, ending(settled=7))),
        (GOOD[0], frame(RESULT, b"x"), GOOD[1]),
    ],
)
def test_everything_else_is_none(said: tuple[bytes, ...]) -> None:
    # A frame after the last one is only read where it arrives together with it.
    if said == (*GOOD, frame(STDOUT, b"late")):
        said = (b"".join(said),)
    assert kind_after(*said) is not Kind.PASS


def test_silence_is_no_pass_and_no_hang() -> None:
    begun = time.monotonic()
    assert kind_after(GOOD[0], silent=True) is Kind.HARNESS_ERROR
    assert time.monotonic() - begun < 5


frames = st.tuples(st.integers(0, 6), st.binary(max_size=80)).map(lambda pair: frame(*pair))
anything = st.lists(
    st.binary(max_size=80)
    | frames
    | st.sampled_from([GOOD[0], GOOD[1], frame(STDERR, b"e")])
    | st.binary(max_size=8).map(lambda call: frame(END, ending(call)))
    | st.binary(min_size=ENDING.size, max_size=ENDING.size).map(lambda body: frame(END, body)),
    max_size=6,
)


@given(anything)
def test_a_hostile_peer_never_makes_a_pass_without_the_sealed_value(said: list[bytes]) -> None:
    kind = kind_after(*said)
    if kind is Kind.PASS:
        assert b"Vi0x6;." + SEAL.encode() in b"".join(said)


@given(st.binary(max_size=200), st.integers(1, 50))
def test_pieces_make_no_difference(data: bytes, size: int) -> None:
    whole, pieces = CaseStream(64), CaseStream(64)
    whole.feed(data)
    for start in range(0, len(data), size):
        if not pieces.over:
            pieces.feed(data[start : start + size])
    if not (pieces.ending is not None and whole.lost is not None):
        assert whole.ending == pieces.ending
        assert (whole.lost is None) == (pieces.lost is None)


def test_a_peer_that_floods_is_cut_off() -> None:
    stream = CaseStream(1000)
    for _ in range(100):
        stream.feed(frame(STDOUT, bytes(LARGEST_FRAME)))
    assert stream.lost == "more output than the harness lets through"
    assert len(stream.channels[STDOUT]) < 3 * LARGEST_FRAME


@given(st.binary(max_size=ENDING.size + 20))
def test_any_ending_is_read_or_refused(body: bytes) -> None:
    found = read_ending(body)
    assert found is None or isinstance(found.ended, Ended)


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"\x00",
        frame(STDOUT, b"{}"),
        FRAME.pack(HELLO, 1 << 30),
        frame(HELLO, b'{"failed": "no Landlock"}'),
        frame(HELLO, b"{}") + b"x",
        frame(HELLO, b"[" * 60000),
        frame(HELLO, b"\xff"),
        frame(HELLO, b"7"),
    ],
)
def test_a_greeting_that_is_none_closes_the_sandbox(said: bytes) -> None:
    peer = Peer()
    peer.said = [said]
    with pytest.raises(SandboxUnavailable):
        Sandbox(peer, HARNESS, {}, flags=0)
    assert peer.closed


def test_a_lost_sandbox_is_not_used_again() -> None:
    sandbox = Sandbox(Peer(b"nonsense!"), HARNESS, {}, flags=0)
    assert sandbox.run(REQUEST).ending is None
    assert not sandbox.usable


def test_an_unclean_sandbox_is_not_used_again() -> None:
    sandbox = Sandbox(Peer(frame(END, ending(clean=0))), HARNESS, {}, flags=0)
    assert sandbox.run(REQUEST).ending is not None
    assert not sandbox.usable


def test_expected_values_have_no_way_in() -> None:
    """What is sent for a case holds its inputs and not its expected value."""
    peer = Peer(*GOOD)
    Sandbox(peer, HARNESS, {}, flags=0).run(
        CaseRequest(kind="function", text=b"text", seal=SEAL, entry="f", arguments=["given-input"])
    )
    assert b"given-input" in peer.heard
    assert not {field for field in CaseRequest.__dataclass_fields__ if "expect" in field}


def test_both_sides_use_the_same_numbers() -> None:
    from armgate.execution import wire as host

    with harness_modules("wire") as loaded:
        inside: Any = loaded["wire"]
        for name in ("REQUEST", "FRAME", "ENDING"):
            assert getattr(inside, name).format == getattr(host, name).format
        flags = ("MAGIC", "LISTEN", "WATCH_SCRATCH", "KILL_ALL")
        for name in (*flags, "HELLO", "STDOUT", "STDERR", "RESULT", "END"):
            assert getattr(inside, name) == getattr(host, name), name
        assert [why or None for why in inside.WHYS] == list(host.WHYS)


def test_a_request_carries_its_limits() -> None:
    header = REQUEST.encoded(flags=3, processes=64)[: struct.calcsize(">4sIIIIIIIB")]
    magic, length, wall, cpu, memory, output, scratch, processes, flags = struct.unpack(">4sIIIIIIIB", header)
    assert (magic, wall, cpu, memory, output, scratch) == (b"AGc1", 8000, 2000, 256, 4096, 64)
    assert (processes, flags) == (64, 3)
    assert length == len(REQUEST.encoded(3, 64)) - len(header)
