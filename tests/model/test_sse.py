from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armgate.model.sse import Sentinel, SseEvent, SseParser, parse_sse


def data_of(stream: bytes) -> list[bytes]:
    return [event.data for event in parse_sse(stream)]


@pytest.mark.parametrize(
    ("stream", "data"),
    [
        (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data:a\n\n", [b"a"]),
        (b"data:  a\n\n", [b" a"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [b"a", b"b"]),
        (b"data: a\r\rdata: b\r\r", [b"a", b"b"]),
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b"data\n\n", [b""]),
        (b": ping\n\nretry: 3\nid: 1\n\ndata: a\n\n", [b"a"]),
        (b"\xef\xbb\xbfdata: a\n\n", [b"a"]),
        (b"data: \xef\xbb\xbfa\n\n", [b"\xef\xbb\xbfa"]),
        (b"dataset: a\n\n", []),
        (b"\n\n\n", []),
        (b"", []),
    ],
)
def test_events(stream: bytes, data: list[bytes]) -> None:
    assert data_of(stream) == data


def test_kinds_belong_to_their_event_only() -> None:
    events = parse_sse(b"event: error\ndata: a\n\ndata: b\n\nerror: c\n\nevent: x\n\ndata: d\n\n")
    assert [(event.kind, event.data) for event in events] == [
        (b"error", b"a"), (b"", b"b"), (b"error", b"c"), (b"", b"d"),
    ]  # fmt: skip


@pytest.mark.parametrize("end", [b"", b"\n", b"\r", b"\r\n"])
def test_the_end_brings_out_an_event_without_its_blank_line(end: bytes) -> None:
    events = parse_sse(b"data: a\n\ndata: [DONE]" + end)
    assert [(event.data, event.closed) for event in events] == [(b"a", True), (b"[DONE]", False)]


def test_offsets_point_behind_the_last_data_byte() -> None:
    stream = b"\xef\xbb\xbf: x\r\ndata: one\r\ndata: two\r\nid: 5\r\n\r\ndata: three"
    for event in parse_sse(stream):
        assert stream[: event.end].endswith(event.data.split(b"\n")[-1])


LINES = st.sampled_from(
    [b"data: {}", b"data:x", b"data: \xec\xa0\x95", b": c", b"event: e", b"", b"", b"\xef\xbb\xbfdata: y"]
)
STREAMS = st.lists(st.tuples(LINES, st.sampled_from([b"\n", b"\r", b"\r\n"])), max_size=20).map(
    lambda pairs: b"".join(line + end for line, end in pairs)
)


@given(st.one_of(STREAMS, st.binary(max_size=200)), st.lists(st.integers(0, 400), max_size=30))
def test_cuts_change_nothing(stream: bytes, cuts: list[int]) -> None:
    parser = SseParser()
    events: list[SseEvent] = []
    bounds = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    for start, end in pairwise(bounds):
        events += parser.feed(stream[start:end])
    assert events + parser.flush() == parse_sse(stream)


def test_a_huge_line_in_small_reads_takes_linear_time() -> None:
    parser = SseParser()
    piece = b"x" * 100
    for _ in range(100_000):
        assert parser.feed(piece) == []
    assert len(parser.feed(b"\n")) == 0


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_the_sentinel_is_seen_when_its_event_is_complete(size: int) -> None:
    before = b'data: {"content": "it ends with [DONE] here"}\r\n\r\ndata: x\n\n'
    stream = before + b"data: [DONE]\n\n: and a comment\n\n"
    sentinel = Sentinel()
    reads = [stream[at : at + size] for at in range(0, len(stream), size)]
    seen = [sentinel.seen_after(read) for read in reads]
    complete = len(before) + len(b"data: [DONE]\n\n")
    assert seen.index(True) == (complete - 1) // size
    assert seen.count(True) == 1


def test_a_text_that_mentions_the_sentinel_is_none() -> None:
    sentinel = Sentinel()
    assert not sentinel.seen_after(b'data: {"content": "[DONE]"}\n\n')
    assert sentinel.seen_after(b"data: [DONE]\n\n")
