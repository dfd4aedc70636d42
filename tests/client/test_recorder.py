from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from armgate.client.recorder import COMPRESS_ABOVE_BYTES, Recorder, recording_at
from armgate.client.secrets import Secrets
from armgate.errors import RecordError
from armgate.model.exchange import CHAT, Clock, Fate
from armgate.model.exchange_form import parse_exchange

CLOCK = Clock(zero_s=5.0, headers_s=0.01, end_s=1.0)
SECRET = "sk-FAKE-abc123"


def recorded(stem: Path, *reads: bytes, secrets: Secrets | None = None) -> Recorder:
    recorder = Recorder(stem, secrets or Secrets({}))
    recorder.head({"model": "m"}, CHAT)
    recorder.answer(200, {"Content-Type": "text/event-stream", "Set-Cookie": "a=b"}, 0.01)
    for n, data in enumerate(reads):
        recorder.read(0.1 * n + 0.05, data)
    return recorder


def test_what_finish_returns_is_what_the_file_says(tmp_path: Path) -> None:
    recorder = recorded(tmp_path / "g" / "probe.0", b"data: a\n\n", b"\xff\xfe", b"data: [DONE]\n\n")
    exchange = recorder.finish(Fate.COMPLETE, CLOCK, None, left_open=True)
    path = tmp_path / "g" / "probe.0.jsonl"
    assert recording_at(path) == path
    assert parse_exchange(path.read_bytes(), path) == exchange
    assert exchange.body == b"data: a\n\n\xff\xfedata: [DONE]\n\n"
    assert exchange.headers == {"content-type": "text/event-stream"}


def test_a_big_recording_is_compressed_the_same_way_each_time(tmp_path: Path) -> None:
    reads = [f"data: {n} {'x' * 90}\n\n".encode() for n in range(4000)]
    digests = set()
    for name in ("a", "b"):
        recorder = recorded(tmp_path / name, *reads)
        plain = (tmp_path / f"{name}.jsonl").read_bytes().split(b"\n", 1)[1]
        assert len(plain) > COMPRESS_ABOVE_BYTES
        exchange = recorder.finish(Fate.COMPLETE, CLOCK, None)
        path = recording_at(tmp_path / f"{name}.jsonl")
        assert path == tmp_path / f"{name}.jsonl.gz"
        assert sorted(file.name for file in tmp_path.glob(f"{name}.*")) == [f"{name}.jsonl.gz"]
        assert parse_exchange(path.read_bytes(), path) == exchange
        text = subprocess.run(["zcat", path], capture_output=True, check=True).stdout
        assert text.split(b"\n", 1)[1].startswith(plain)
        # The first line holds the instant of sending; equal content must give equal bytes.
        digests.add(hashlib.sha256(text.split(b"\n", 1)[1]).hexdigest())
        assert path.read_bytes()[4:8] == b"\0\0\0\0", "no time stamp in the gzip header"
    assert len(digests) == 1


def test_every_read_is_on_disk_before_the_next(tmp_path: Path) -> None:
    recorder = recorded(tmp_path / "p")
    for n in range(5):
        recorder.read(float(n), b"data: x\n\n")
        exchange = parse_exchange((tmp_path / "p.jsonl").read_bytes(), tmp_path / "p.jsonl")
        assert (len(exchange.frames), exchange.fate) == (n + 1, Fate.CUT)
    recorder.close()


def test_a_killed_recorder_leaves_what_came(tmp_path: Path) -> None:
    program = f"""
import os, signal
from pathlib import Path
from armgate.client.recorder import Recorder
recorder = Recorder(Path({str(tmp_path / "p")!r}))
recorder.head({{"model": "m"}}, "/v1/chat/completions")
recorder.answer(200, {{}}, 0.1)
recorder.read(0.2, b"data: a\\n\\n")
os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", program], check=False)
    assert killed.returncode == -signal.SIGKILL
    exchange = parse_exchange((tmp_path / "p.jsonl").read_bytes(), tmp_path / "p.jsonl")
    assert (exchange.fate, exchange.status, exchange.body) == (Fate.CUT, 200, b"data: a\n\n")


def test_secrets_land_nowhere(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "p", Secrets({"api_key": SECRET}))
    recorder.head({"model": "m", "note": SECRET}, CHAT)
    recorder.answer(200, {"X-Request-Id": f"r-{SECRET}", "Authorization": SECRET}, 0.01)
    recorder.read(0.1, b"key " + SECRET[:5].encode())
    assert SECRET[:5].encode() not in (tmp_path / "p.jsonl").read_bytes()
    recorder.read(0.2, SECRET[5:].encode() + b" end")
    exchange = recorder.finish(Fate.DROPPED, CLOCK, f"lost {SECRET}")
    data = (tmp_path / "p.jsonl").read_bytes()
    assert SECRET.encode() not in data
    assert exchange == parse_exchange(data)
    assert exchange.body == b"key " + b"*" * len(SECRET) + b" end"
    assert [len(frame.data) for frame in exchange.frames] == [9, len(SECRET) - 1]
    assert [(mask.offset, mask.length, mask.kind) for mask in exchange.masks] == [(4, len(SECRET), "api_key")]
    assert exchange.headers == {"x-request-id": "r-" + "*" * len(SECRET)}
    assert exchange.error == "lost " + "*" * len(SECRET)
    assert exchange.request == {"model": "m", "note": "*" * len(SECRET)}


def test_an_attempt_is_never_written_over(tmp_path: Path) -> None:
    recorded(tmp_path / "p").finish(Fate.COMPLETE, CLOCK, None)
    with pytest.raises(RecordError, match="cannot be begun"):
        Recorder(tmp_path / "p")


def test_a_full_disk_is_our_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = recorded(tmp_path / "p")

    def full(file: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(RecordError, match="No space left"):
        recorder.read(0.1, b"x")
    recorder.close()


def test_there_may_be_no_recording(tmp_path: Path) -> None:
    assert recording_at(tmp_path / "p.jsonl") is None
