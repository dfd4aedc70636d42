"""The peers: where each comes from, how it is told to send the same requests, how its output is read."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from peer_bench.figures import Said

ISL, OSL = 32, 4096
"""Tokens asked for; the server's own schedule decides what comes."""


@dataclasses.dataclass(frozen=True)
class Task:
    """One run that is asked of a client. `folder` is its own and empty."""

    url: str
    streams: int
    requests: int
    folder: Path
    tokenizer: Path | None
    """A local one; peers are run only where there is one."""


@dataclasses.dataclass(frozen=True)
class Client:
    """`argv` begins with a program of the client's environment; `start` says when its TTFT clock starts."""

    name: str
    start: str
    argv: Callable[[Task, Path], list[str]]
    read: Callable[[Task], Said]
    package: str | None = None
    """Requirement to install into an environment of its own; `None` where it runs in one that exists."""
    environment: str = ""
    offline: bool = True
    """Whether it is told that there is no hub; AIPerf then looks for no local tokenizer either."""


def _reader(name: str) -> Callable[[Task, Path], list[str]]:
    return lambda task, _: [
        sys.executable, "-m", "peer_bench.readers", name, task.url, str(task.streams), str(task.requests),
        str(task.folder / "said.json"),
    ]  # fmt: skip


def _read_reader(task: Task) -> Said:
    return Said(**json.loads((task.folder / "said.json").read_text()))


def _llama_benchy(task: Task, environment: Path) -> list[str]:
    return [
        str(environment / "bin" / "llama-benchy"), "--base-url", f"{task.url}/v1", "--model", "timing",
        "--tokenizer", str(task.tokenizer), "--pp", str(ISL), "--tg", str(OSL),
        "--concurrency", str(task.streams), "--runs", str(task.requests // task.streams), "--no-warmup",
        "--no-adapt-prompt", "--skip-coherence", "--latency-mode", "none", "--book-url", f"{task.url}/book",
        "--save-result", str(task.folder / "result.json"), "--format", "json",
        "--emit-progress", str(task.folder / "progress.jsonl"),
    ]  # fmt: skip


def _read_llama_benchy(task: Task) -> Said:
    events = _lines(task.folder / "progress.jsonl")
    result = json.loads((task.folder / "result.json").read_text())["benchmarks"][0]
    failed = sum(1 for event in events if event["type"] == "request_end" and event["error"])
    rates = (result.get("tg_req_throughput") or {}).get("values", [])
    return Said(
        ttfts_s=[event["ttft_s"] for event in events if event["type"] == "request_first_token"],
        rates_tok_s=rates,
        reported={"error": failed} if failed else {},
    )


VLLM = (
    "import argparse; from vllm.benchmarks.serve import add_cli_args, main; "
    "p = argparse.ArgumentParser(); add_cli_args(p); main(p.parse_args())"
)
"""The command `vllm` of the third-party CPU build dies for want of the distribution's name."""


def _vllm(backend: str, endpoint: str) -> Callable[[Task, Path], list[str]]:
    return lambda task, environment: [
        str(environment / "bin" / "python"), "-c", VLLM, "--backend", backend, "--base-url", task.url,
        "--endpoint", endpoint, "--model", "timing", "--tokenizer", str(task.tokenizer),
        "--dataset-name", "random", "--random-input-len", str(ISL), "--random-output-len", str(OSL),
        "--num-prompts", str(task.requests), "--max-concurrency", str(task.streams),
        "--ready-check-timeout-sec", "0", "--save-result", "--save-detailed", "--disable-tqdm",
        "--result-dir", str(task.folder), "--result-filename", "result.json",
    ]  # fmt: skip


def _read_vllm(task: Task) -> Said:
    """Its rate of a request is 1/TPOT = (N-1)/(latency-TTFT)."""
    result = json.loads((task.folder / "result.json").read_text())
    rows = list(
        zip(result["ttfts"], result["latencies"], result["output_lens"], result["errors"], strict=True)
    )
    good = [(ttft, latency, n) for ttft, latency, n, error in rows if not error]
    return Said(
        ttfts_s=[ttft for ttft, _, _ in good if ttft],
        rates_tok_s=[(n - 1) / (latency - ttft) for ttft, latency, n in good if n > 1 and latency > ttft > 0],
        reported={"failed": result["failed"]} if result["failed"] else {},
    )


def _guidellm(task: Task, environment: Path) -> list[str]:
    return [
        str(environment / "bin" / "guidellm"), "run", "--backend",
        f"kind=openai_http,target={task.url},model=timing,request_format=/v1/chat/completions",
        "--profile", f"kind=concurrent,streams={task.streams}",
        "--constraint", f"kind=max_requests,count={task.requests}",
        "--tokenizer", f"kind=huggingface_auto,model={task.tokenizer}",
        "--data", f"kind=synthetic_text,prompt_tokens={ISL},output_tokens={OSL}",
        "--output", f"kind=json,path={task.folder / 'result.json'}", "--disable-console",
    ]  # fmt: skip


def _read_guidellm(task: Task) -> Said:
    requests = json.loads((task.folder / "result.json").read_text())["benchmarks"][0]["requests"]
    good = requests["successful"]
    errored = len(requests["errored"])
    return Said(
        ttfts_s=[r["time_to_first_token_ms"] / 1000 for r in good if r["time_to_first_token_ms"]],
        rates_tok_s=[1000 / r["inter_token_latency_ms"] for r in good if r["inter_token_latency_ms"]],
        reported={"errored": errored} if errored else {},
    )


def _aiperf(task: Task, environment: Path) -> list[str]:
    # It takes an absolute path for a name on the hub, hence the link in the folder that it starts in.
    (task.folder / "local").mkdir()
    (task.folder / "local" / "model").symlink_to(str(task.tokenizer))
    prompts = "".join(json.dumps({"text": f"Tell me story {n}"}) + "\n" for n in range(task.requests))
    (task.folder / "prompts.jsonl").write_text(prompts)
    return [
        str(environment / "bin" / "aiperf"), "profile", "-m", "timing", "-u", task.url,
        "--endpoint-type", "chat", "--streaming", "--tokenizer", "local/model",
        "--concurrency", str(task.streams), "--request-count", str(task.requests),
        "--input-file", "prompts.jsonl", "--custom-dataset-type", "single_turn", "--use-server-token-count",
        "--no-server-metrics", "--no-gpu-telemetry", "--ui", "none",
        "--artifact-dir", str(task.folder / "result"), "--export-level", "records",
    ]  # fmt: skip


def _read_aiperf(task: Task) -> Said:
    records = _lines(task.folder / "result" / "profile_export.jsonl")
    errors = sum(1 for record in records if record.get("error"))
    good = [record["metrics"] for record in records if not record.get("error")]
    return Said(
        ttfts_s=[m["time_to_first_token"]["value"] / 1000 for m in good if "time_to_first_token" in m],
        rates_tok_s=[1000 / m["inter_token_latency"]["value"] for m in good if "inter_token_latency" in m],
        reported={"error": errors} if errors else {},
    )


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines() if line]


CLIENTS = (
    Client("bare aiohttp", "before connecting", _reader("bare"), _read_reader),
    Client("armgate", "handed to the socket", _reader("armgate"), _read_reader),
    Client("armgate from the call", "before connecting", _reader("called"), _read_reader),
    Client("llama-benchy", "before connecting", _llama_benchy, _read_llama_benchy,
           package="llama-benchy==0.4.0", environment="llama-benchy"),
    Client("vllm completions", "before connecting", _vllm("openai", "/v1/completions"), _read_vllm,
           environment="engine"),
    Client("vllm chat", "before connecting", _vllm("openai-chat", "/v1/chat/completions"), _read_vllm,
           environment="engine"),
    Client("guidellm", "header written", _guidellm, _read_guidellm,
           package="guidellm==0.8.1", environment="guidellm"),
    Client("aiperf", "before connecting", _aiperf, _read_aiperf,
           package="aiperf==0.13.0", environment="aiperf", offline=False),
)  # fmt: skip
