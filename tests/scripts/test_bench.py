"""The benchmark of streaming clients with Armgate's own readers alone: peers are installed on demand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def bench(*words: str, **environment: str) -> str:
    path = {"PYTHONPATH": str(ROOT / "scripts")}
    done = subprocess.run(
        [sys.executable, "-m", "peer_bench", *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **path, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_spoiled_stream_is_found_under_its_own_kind() -> None:
    out = bench("faults", "--clients", "armgate,bare aiohttp")
    row = next(line for line in out.splitlines() if line.startswith("| armgate"))
    assert "31: 1 http_500, 2 cut, 4 error_event, 8 silent_end, 16 empty" in row
    assert "| 31 | 1 server_error, 2 connection_dropped, 4 server_error_in_stream, " in row
    assert "8 stream_truncated, 16 tokens_generated_but_no_text |" in row
    bare = next(line for line in out.splitlines() if line.startswith("| bare aiohttp"))
    assert "| 2 | 2 ClientPayloadError |" in bare


def test_shapes_of_a_stream_move_no_rate() -> None:
    row = next(line for line in bench("shapes", "--clients", "armgate").splitlines() if "| armgate" in line)
    figures = re.findall(r"([+-][\d.]+), ([+-][\d.]+)", row)
    assert len(figures) == 5
    assert all(-1.0 < float(ttft_ms) < 100.0 for ttft_ms, _ in figures), "a busy machine is late, never early"
    assert all(abs(float(rate)) < 10.0 for _, rate in figures), "a wrong formula is off by far more"


def test_a_peer_that_cannot_be_had_is_a_row(tmp_path: Path) -> None:
    out = bench(
        "faults",
        "--clients",
        "llama-benchy",
        "--environments",
        str(tmp_path),
        ARMGATE_ENGINE_MODEL="/nowhere",
    )
    assert "| llama-benchy | /nowhere does not exist; scripts/demo --prepare makes it |" in out
