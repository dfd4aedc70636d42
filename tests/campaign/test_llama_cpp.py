"""A second real engine, attached: llama.cpp behind llama-cpp-python's server. Opt-in, since it takes a build.

`ARMGATE_LLAMA_PYTHON` names an interpreter with `llama-cpp-python[server]`, `ARMGATE_LLAMA_MODEL` a GGUF.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from armgate.engines.listening import free_port

pytestmark = [pytest.mark.engine, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
LADDER = """
schema: armgate/ladder/v1
id: short
gates:
  - id: responds
    check: responds
    required: true
    why: an arm that does not answer needs no further look
    probes: [{id: capital, prompt: "What is the capital of France?", max_tokens: 24, warm_up: 1}]
  - id: json-person
    check: contract
    contract: json-person
    required: true
    why: known to hold on this model at temperature 0
    requires: [responds]
    probes:
      - id: maria
        prompt: >-
          Extract name and age as JSON with keys "name" and "age" only, no other text: Maria is 31 years old.
        max_tokens: 64
"""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    python, model = os.environ.get("ARMGATE_LLAMA_PYTHON"), os.environ.get("ARMGATE_LLAMA_MODEL")
    if python is None or model is None:
        pytest.skip("ARMGATE_LLAMA_PYTHON and ARMGATE_LLAMA_MODEL name no llama.cpp server")
    port = free_port()
    words = [python, "-m", "llama_cpp.server", "--model", model, "--model_alias", "smollm2"]
    server = subprocess.Popen(
        [*words, "--port", str(port), "--n_ctx", "2048"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    found = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and server.poll() is None:
            try:
                httpx.get(f"{found}/v1/models", trust_env=False)
                break
            except httpx.HTTPError:
                time.sleep(0.2)
        yield found
        assert server.poll() is None, "the server was not left alone"
    finally:
        server.kill()
        server.wait()


def test_llama_cpp_is_attached_and_judged(url: str, tmp_path: Path) -> None:
    for folder in ("campaigns", "gates", "contracts"):
        (tmp_path / folder).mkdir()
    shutil.copy(ROOT / "contracts" / "json-person.yaml", tmp_path / "contracts")
    (tmp_path / "gates" / "short.yaml").write_text(LADDER)
    words = ["attach", f"{url}/v1", "--ladder", "gates/short.yaml", "--engine", "llama-cpp"]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "armgate",
            *words,
            "--workspace",
            str(tmp_path),
            "--out",
            str(tmp_path / "runs"),
            "--json",
        ],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    told = json.loads(done.stdout)
    arm = told["arms"]["attached"]
    assert arm["arm_verdict"] == "accepted", (arm, done.stderr)
    boot = json.loads((Path(told["run"]) / "arms" / "attached" / "boots" / "00" / "boot.json").read_text())
    assert boot["resolved"] == {"id": "smollm2"}
    assert [pin["state"] for pin in boot["pins"]] == ["unverified"]
    assert boot["launcher"] == "attach"
