"""The benchmark's tables, as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from armgate.campaign.calibration import measure
from peer_bench.figures import Run, at
from peer_bench.peers import Client

Runs = Mapping[str, "Run | str"]


def error_table(
    clients: Sequence[Client],
    levels: Sequence[int],
    runs: Mapping[tuple[str, int], Sequence[Run | str]],
    dense: Runs,
) -> str:
    heads = ["client", "TTFT clock starts", *(f"TTFT error at {n}: p50 / p99, ms" for n in levels)]
    heads += ["rate error at 64 dense streams: median / worst, %", "CPU a delta, us (reading alone)"]
    rows = []
    for client in clients:
        cells = [_ttft(runs[client.name, n]) for n in levels]
        few = runs[client.name, levels[-1]][-1]
        rows.append(
            [client.name, client.start, *cells, _rate(dense[client.name]), _cost(dense[client.name], few)]
        )
    return _table("Error against truth", heads, rows)


def shape_table(clients: Sequence[Client], by_shape: Mapping[str, Runs]) -> str:
    heads = ["client", *(f"{shape}: TTFT error ms, rate error %" for shape in by_shape)]
    rows = [[client.name, *(_both(runs[client.name]) for runs in by_shape.values())] for client in clients]
    return _table("What must not move a figure (8 streams; medians)", heads, rows)


def fault_table(clients: Sequence[Client], runs: Runs) -> str:
    rows = []
    for client in clients:
        run = runs[client.name]
        if isinstance(run, str):
            rows.append([client.name, run, "-", "-"])
            continue
        spoiled = ", ".join(f"{n} {kind}" for kind, n in run.spoiled.items() if n)
        told = ", ".join(f"{n} {kind}" for kind, n in sorted(run.said.reported.items(), key=lambda kv: kv[1]))
        rows.append([client.name, f"{sum(run.spoiled.values())}: {spoiled}",
                     str(sum(run.said.reported.values())), told or "none"])  # fmt: skip
    return _table("Spoiled streams", ["client", "spoiled", "reported", "by kind"], rows)


def held_line() -> str:
    found = measure(2.0, steps=True, told=lambda words: None)
    steps = "\n".join(
        f"- {step.level.deltas_per_s:.0f} deltas/s: "
        f"{'held' if step.held else f'not held, the {step.limited_by} fell behind'}; "
        f"stamp delay median {1000 * step.level.stamp_delay_s.median:.2f} ms, "
        f"99th percentile {1000 * step.level.stamp_delay_s.p99:.1f} ms"
        for step in found.steps
    )
    return f"\n### Highest rate held by armgate, 64 streams\n\n{steps}\n\n{found.words()}\n"


def _ttft(runs: Sequence[Run | str]) -> str:
    told = [run for run in runs if isinstance(run, str)]
    if told:
        return told[0]
    errors = [error for run in runs if isinstance(run, Run) for error in run.ttft_errors_ms()]
    return f"{_number(at(errors, 0.5), '+.1f')} / {_number(at(errors, 0.99), '+.1f')}"


def _rate(run: Run | str) -> str:
    if isinstance(run, str):
        return run
    errors = sorted((100 * error for error in run.rate_errors()), key=abs)
    return f"{median(errors):+.2f} / {errors[-1]:+.2f}" if errors else "none"


def _cost(dense: Run | str, few: Run | str) -> str:
    if isinstance(dense, str) or isinstance(few, str):
        return "none"
    slope = 1e6 * (dense.cpu_s - few.cpu_s) / (dense.deltas - few.deltas)
    if dense.said.cpu_s is None or few.said.cpu_s is None:
        return f"{slope:.0f}"
    reading = 1e6 * (dense.said.cpu_s - few.said.cpu_s) / (dense.deltas - few.deltas)
    return f"{slope:.0f} ({reading:.0f})"


def _both(run: Run | str) -> str:
    if isinstance(run, str):
        return run
    ttft, rate = at(run.ttft_errors_ms(), 0.5), at(run.rate_errors(), 0.5)
    return f"{_number(ttft, '+.1f')}, {_number(None if rate is None else 100 * rate, '+.1f')}"


def _number(value: float | None, form: str) -> str:
    return "none" if value is None else format(value, form)


def _table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(heads), *rows)]
    return f"\n### {title}\n\n" + "\n".join(lines) + "\n"
