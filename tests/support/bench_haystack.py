"""Prints what building a haystack costs, by length and filler: time, memory, calls, and the growth."""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from armgate.loading.haystack import build_haystack
from armgate.loading.tokenizer_files import TokenizerFiles
from armgate.model.haystack import HaystackSpec, MarkerSpec, ProseFiller, RecordsFiller

MODEL = Path(__file__).resolve().parents[2] / ".armgate" / "models" / "smollm2-135m-instruct"
LENGTHS = (120_000, 1_000_000)
FILLERS = {"records": RecordsFiller(), "prose": ProseFiller()}


def measure(model: Path, filler: str, target: int) -> dict[str, Any]:
    """One build in this process: seconds in all and in the tokenizer, calls, and the peak of memory."""
    files = TokenizerFiles.load(model)
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    counting = 0.0

    def count(text: str) -> int:
        nonlocal counting
        begun = time.perf_counter()
        tokens = files.count({"messages": [{"role": "user", "content": text}]})
        counting += time.perf_counter() - begun
        return tokens

    markers = tuple(MarkerSpec(id=f"m{n}", depth=depth) for n, depth in enumerate((0.1, 0.5, 0.9)))
    spec = HaystackSpec(target_tokens=target, filler=FILLERS[filler], question="Which?", markers=markers)
    begun = time.perf_counter()
    built = asyncio.run(build_haystack(spec, count))
    wall = time.perf_counter() - begun
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "wall_s": wall,
        "tokenizer_s": counting,
        "calls": built.count_calls,
        "tokens": built.counted_tokens,
        "megabytes": (peak_kb - before_kb) / 1024,
    }


def in_a_fresh_process(model: Path, filler: str, target: int) -> dict[str, Any]:
    """A process of its own, so that the peak of memory is that of this build alone."""
    command = [
        sys.executable,
        "-m",
        "support.bench_haystack",
        "--model",
        str(model),
        "--one",
        filler,
        str(target),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def report(model: Path, filler: str, repeats: int) -> None:
    """Lengths take turns, so that both sides of the ratio meet the same noise; the fastest of each counts."""
    runs: dict[int, list[dict[str, Any]]] = {target: [] for target in LENGTHS}
    for _ in range(repeats):
        for target in LENGTHS:
            runs[target].append(in_a_fresh_process(model, filler, target))
    best = {target: min(found, key=lambda run: run["wall_s"]) for target, found in runs.items()}
    for target, run in best.items():
        print(
            f"{filler:<8}{target:>10,} tokens{run['tokens'] - target:>+4} off"
            f"{run['wall_s']:>8.2f} s{run['wall_s'] - run['tokenizer_s']:>8.2f} s without the tokenizer"
            f"{run['calls']:>4} counts{run['megabytes']:>7.0f} MB"
        )
    short, long = (best[target] for target in LENGTHS)
    growth = {name: long[name] / short[name] for name in ("wall_s", "megabytes")}
    print(
        f"{filler:<8}{LENGTHS[1] / LENGTHS[0]:>10.1f} times the tokens: {growth['wall_s']:.1f} times the "
        f"time, {growth['megabytes']:.1f} times the memory\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=MODEL, help="a folder with tokenizer files")
    parser.add_argument("--repeats", type=int, default=3, help="builds of each length; the fastest counts")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.model, options.one[0], int(options.one[1]))))
        return
    for filler in FILLERS:
        report(options.model, filler, options.repeats)


if __name__ == "__main__":
    main()
