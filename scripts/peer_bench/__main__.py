"""The benchmark's parts and their tables."""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from armgate.client.known_timing.process import timing_server
from peer_bench.environments import ROOT, Missing, environment_of, tokenizer
from peer_bench.figures import Run, Server, truth
from peer_bench.peers import CLIENTS, Client, Task
from peer_bench.tables import error_table, fault_table, held_line, shape_table

LEVELS = {1: 10, 8: 16, 64: 64}
"""Simultaneous streams, and requests in all."""
PLAIN: dict[str, Any] = {
    "ttft_s": 0.2,
    "gap_s": 0.03,
    "deltas": 20,
    "tokens_per_delta": 3,
    "role_chunk": True,
}
DENSE: dict[str, Any] = {**PLAIN, "gap_s": 0.01, "deltas": 300}
"""64 streams of 100 deltas a second: what a delta costs is the slope from `PLAIN`, free of starting costs."""
SHAPED: dict[str, Any] = {**PLAIN, "deltas": 40, "tokens_per_delta": 1, "role_chunk": False}
SHAPES: dict[str, dict[str, Any]] = {
    "plain": SHAPED,
    "role-only first chunk": {**SHAPED, "role_chunk": True},
    "first 20 deltas reasoning": {**SHAPED, "reasoning_deltas": 20},
    "usage 1 s late": {**SHAPED, "usage_after_s": 1.0},
    "3 tokens a delta": {**SHAPED, "tokens_per_delta": 3},
}
SPOILED = {"http_500": 1, "cut": 2, "error_event": 4, "silent_end": 8, "empty": 16}
DEADLINE_S = 300.0
LOG = "said.log"


def fault_mix() -> list[str]:
    faults = [fault for fault, n in SPOILED.items() for _ in range(n)]
    faults += [""] * (64 - len(faults))
    random.Random(1).shuffle(faults)
    return faults


class Bench:
    """Runs clients against one server, one after the other, each in a process of its own."""

    def __init__(self, server: Server, clients: list[Client], parent: Path) -> None:
        self.server = server
        self.tokenizer: Path | None = None
        with contextlib.suppress(Missing):
            self.tokenizer = tokenizer()
        self.environments: dict[str, Path | Missing] = {}
        self.clients = clients
        for client in clients:
            try:
                self.environments[client.name] = environment_of(client, parent)
            except Missing as reason:
                self.environments[client.name] = reason

    def run(
        self, client: Client, streams: int, requests: int, schedule: dict[str, Any], faults: list[str]
    ) -> Run | str:
        """One run, or in words why there is none."""
        environment = self.environments[client.name]
        if isinstance(environment, Missing):
            return str(environment)
        self.server.program(schedule, faults)
        with tempfile.TemporaryDirectory(prefix="armgate-bench-") as folder:
            task = Task(self.server.url, streams, requests, Path(folder), self.tokenizer)
            try:
                cpu_s, wall_s = _timed(client.argv(task, environment), Path(folder), client.offline)
                said = client.read(task)
            except (OSError, ValueError, KeyError, IndexError, subprocess.TimeoutExpired) as error:
                return f"did not run: {_last_words(Path(folder)) or error}"[:200]
        sent = self.server.streams()
        ttft_s, rate, deltas = truth(sent, schedule["tokens_per_delta"])
        spoiled = {kind: sum(s["fault"] == kind for s in sent) for kind in SPOILED}
        print(f"{client.name}: {streams} streams, {len(sent)} requests, {wall_s:.0f} s", file=sys.stderr)
        return Run(said, ttft_s, rate, deltas, cpu_s, wall_s, spoiled)

    def over(
        self, streams: int, requests: int, schedule: dict[str, Any], faults: list[str] | None = None
    ) -> dict[str, Run | str]:
        return {c.name: self.run(c, streams, requests, schedule, faults or [""]) for c in self.clients}


def _timed(argv: list[str], folder: Path, offline: bool) -> tuple[float, float]:
    """Processor and wall seconds of a program and all its children; its words go to `said.log`.

    Some exit with an error where requests failed, so only a missing result counts as not having run.
    """
    hub = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"} if offline else {}
    path = os.pathsep.join((str(ROOT / "scripts"), os.environ.get("PYTHONPATH", "")))
    before, began = os.times(), time.monotonic()
    with (folder / LOG).open("wb") as log:
        subprocess.run(
            argv,
            cwd=folder,
            env={**os.environ, **hub, "HOME": str(folder), "PYTHONPATH": path},
            timeout=DEADLINE_S,
            check=False,
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
        )
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return spent, time.monotonic() - began


def _last_words(folder: Path) -> str:
    lines = (folder / LOG).read_text("utf-8", "replace").splitlines() if (folder / LOG).exists() else []
    return next((line.strip() for line in reversed(lines) if any(map(str.isalnum, line))), "")


def levels(bench: Bench, rounds: int) -> None:
    """Every client at every level, interleaved, `rounds` times; then the dense streams for cost and rates."""
    runs: dict[tuple[str, int], list[Run | str]] = {}
    for _ in range(rounds):
        for streams, requests in LEVELS.items():
            for name, run in bench.over(streams, requests, PLAIN).items():
                runs.setdefault((name, streams), []).append(run)
    dense = bench.over(64, 64, DENSE)
    print(error_table(bench.clients, tuple(LEVELS), runs, dense))


def shapes(bench: Bench) -> None:
    print(shape_table(bench.clients, {name: bench.over(8, 8, schedule) for name, schedule in SHAPES.items()}))


def faults(bench: Bench) -> None:
    print(fault_table(bench.clients, bench.over(8, 64, PLAIN, fault_mix())))


def held() -> None:
    print(held_line())


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("parts", nargs="*", help="of levels, shapes, faults, held; all by default")
    parser.add_argument("--rounds", type=int, default=2, help="interleaved rounds of the levels")
    parser.add_argument("--clients", help="names separated by commas; all by default")
    parser.add_argument("--environments", type=Path, default=ROOT / ".armgate" / "bench")
    given = parser.parse_args()
    wanted = given.clients.split(",") if given.clients else [client.name for client in CLIENTS]
    unknown = set(wanted) - {client.name for client in CLIENTS}
    parts = given.parts or ["levels", "shapes", "faults", "held"]
    if unknown or set(parts) - {"levels", "shapes", "faults", "held"}:
        parser.error(f"parts are levels, shapes, faults, held; clients {', '.join(c.name for c in CLIENTS)}")
    clients = [client for client in CLIENTS if client.name in wanted]
    with timing_server() as url:
        bench = Bench(Server(url), clients, given.environments.absolute())
        for part in parts:
            if part == "levels":
                levels(bench, given.rounds)
            elif part == "held":
                held()
            else:
                {"shapes": shapes, "faults": faults}[part](bench)


if __name__ == "__main__":
    main()
