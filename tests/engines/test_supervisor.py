"""The program between Armgate and a server: what the server prints, as it stands in the log."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from armgate.engines import supervisor

PRINTS = """
import os, sys, time
print("args: {'api_key': 'sk-FAKE-abc123', 'port': 8000}", flush=True)
print("loading", end="\\r", flush=True)
sys.stdout.write("the variable holds " + os.environ["HF_TOKEN"][:4]); sys.stdout.flush()
time.sleep(0.1)
print(os.environ["HF_TOKEN"][4:])
print("on standard error", file=sys.stderr)
os.write(1, b"\\xff\\xfe not UTF-8\\n" + b"x" * 200_000 + b" end without a line's end")
"""


def test_the_log_holds_all_that_is_printed_and_no_credential(tmp_path: Path) -> None:
    log, scratch = tmp_path / "server.log", tmp_path / "scratch"
    scratch.mkdir()
    argv = [sys.executable, "-I", supervisor.__file__, str(log), str(scratch), "--"]
    with subprocess.Popen(
        [*argv, sys.executable, "-c", PRINTS],
        env={**os.environ, "HF_TOKEN": "plain-words-as-a-token"},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    ) as process:
        # The end of its standard input would tell it that Armgate is gone.
        assert process.wait(60) == 0
    text = log.read_bytes()
    assert b"FAKE" not in text
    assert b"plain-words" not in text
    assert b"'api_key': '**************', 'port': 8000" in text
    assert b"the variable holds **********************\n" in text
    assert b"on standard error" in text
    assert b"\xff\xfe not UTF-8\n" in text
    assert text.endswith(b"x end without a line's end")
    assert text.count(b"x") >= 200_000
