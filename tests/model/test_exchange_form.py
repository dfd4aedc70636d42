from __future__ import annotations

import gzip
import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armgate.errors import DeclarationError
from armgate.model.exchange import Clock, Exchange, Fate, Frame, Mask
from armgate.model.exchange_form import (
    parse_exchange,
    render_answer,
    render_head,
    render_read,
    render_trailer,
)

REQUEST = {"model": "m", "messages": [{"role": "user", "content": "정답? \ud83d"}]}
CLOCK = Clock(zero_s=12.5, scheduled_s=-0.25, begun_s=-0.002, headers_s=0.01, end_s=0.4)
MASKS = (Mask(offset=3, length=6, kind="api_key"),)
READS = (Frame(0.1, "data: 정\u2028답\n\n".encode()), Frame(0.2, b"data: \xec\xa0"), Frame(0.3, b"\x95\n\n"))
ANSWER = render_answer(200, {"content-type": "text/event-stream"}, 0.01)
HEAD = render_head(REQUEST, "/v1/chat/completions", "2030-01-01T00:00:00.000+00:00")
TRAILER = render_trailer(Fate.COMPLETE, CLOCK, MASKS, None, left_open=True)
RECORDING = HEAD + ANSWER + b"".join(render_read(*read) for read in READS) + TRAILER


def test_a_recording_comes_back_as_it_was() -> None:
    exchange = parse_exchange(RECORDING)
    assert exchange == Exchange(
        request=REQUEST, status=200, headers={"content-type": "text/event-stream"}, frames=READS,
        fate=Fate.COMPLETE, clock=CLOCK, masks=MASKS, left_open=True,
    )  # fmt: skip
    assert exchange.clock.lateness_s == 0.25


def test_one_line_is_one_read_and_readable_as_text() -> None:
    lines = RECORDING.decode().split("\n")
    assert [json.loads(line)[0] for line in lines[2:5]] == [0.1, 0.2, 0.3]
    assert json.loads(lines[2])[1] == "data: 정\u2028답\n\n"
    assert set(json.loads(lines[3])[1]) == {"b64"}


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz"])
@pytest.mark.parametrize("zipped", [False, True])
def test_a_recording_cut_anywhere_is_an_exchange_that_is_cut(name: str, zipped: bool) -> None:
    data = gzip.compress(RECORDING) if zipped else RECORDING
    for length in range(len(data) - 1):
        exchange = parse_exchange(data[:length], Path(name))
        assert exchange.fate is Fate.CUT
        assert exchange.error
        assert exchange.frames == READS[: len(exchange.frames)]
    assert parse_exchange(data, Path(name)).fate is Fate.COMPLETE


def test_a_recording_is_known_by_its_first_bytes_under_any_name() -> None:
    assert parse_exchange(RECORDING[:60], Path("renamed.json")).fate is Fate.CUT


def test_only_the_last_line_may_lack_its_end() -> None:
    assert parse_exchange(RECORDING.rstrip(b"\n")).fate is Fate.COMPLETE
    lines = RECORDING.split(b"\n")
    lines[2] = lines[2][:-3]
    with pytest.raises(DeclarationError) as caught:
        parse_exchange(b"\n".join(lines), Path("x.jsonl"))
    assert caught.value.problems[0].line == 3


@pytest.mark.parametrize(
    "line", [b"[1]", b'[0.1, {"b64": "?"}]', b'["0.1", "a"]', b'{"status": "200"}', b'{"clock": 1}']
)
def test_a_damaged_recording_is_refused(line: bytes) -> None:
    with pytest.raises(DeclarationError):
        parse_exchange(HEAD + line + b"\n" + TRAILER, Path("x.jsonl"))


def test_a_damaged_gzip_file_is_refused() -> None:
    data = bytearray(gzip.compress(RECORDING))
    data[-6] ^= 1
    with pytest.raises(DeclarationError, match="damaged gzip"):
        parse_exchange(bytes(data), Path("x.jsonl.gz"))


@given(st.lists(st.tuples(st.floats(0, 1e5), st.binary(max_size=50)), max_size=10))
def test_any_bytes_come_back(reads: list[tuple[float, bytes]]) -> None:
    lines = b"".join(render_read(at_s, data) for at_s, data in reads)
    frames = parse_exchange(HEAD + lines + TRAILER).frames
    assert [frame.data for frame in frames] == [data for _, data in reads]
    assert [frame.at_s for frame in frames] == [round(at_s, 7) for at_s, _ in reads]


@given(st.binary(max_size=200))
def test_any_bytes_are_an_exchange_or_a_declaration_error(data: bytes) -> None:
    for name in ("x.json", "x.jsonl"):
        with suppress(DeclarationError):
            parse_exchange(data, Path(name))
