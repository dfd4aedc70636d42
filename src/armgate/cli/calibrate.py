"""`armgate calibrate`: the client's own error on this machine, measured, shown and kept for runs to quote."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from armgate.campaign.calibration import measure, store
from armgate.cli.options import JsonOption
from armgate.cli.output import console, error_console, print_json
from armgate.model.calibration import Calibration, LevelError, Spread


def calibrate(
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.2, max=60.0, help="How long each stream lasts.")
    ] = 3.0,
    steps: Annotated[
        bool, typer.Option("--steps/--no-steps", help="Also find the highest rate that is held.")
    ] = True,
    keep: Annotated[
        bool, typer.Option("--keep/--no-keep", help="Keep the figure for runs on this machine to quote.")
    ] = True,
    as_json: JsonOption = False,
) -> None:
    """Run the client against a server of known timing and print its own error; about a minute."""
    found = measure(seconds, steps, _told)
    path = store(found) if keep else None
    if as_json:
        body = found.model_dump(mode="json", by_alias=True)
        held = found.held_deltas_per_s
        print_json(
            {"calibration": body, "held_deltas_per_s": held, "stored": None if path is None else str(path)}
        )
        return
    out = console()
    out.print(_table(found.levels))
    out.print(_held(found), highlight=False, soft_wrap=True)
    out.print(found.words(), markup=False, highlight=False, soft_wrap=True)
    if path is not None:
        out.print(
            f"kept in {path}; runs on this machine quote it", markup=False, highlight=False, soft_wrap=True
        )


def _told(words: str) -> None:
    error_console().print(words, markup=False, highlight=False)


def _table(levels: tuple[LevelError, ...]) -> Table:
    """One column for each number of streams; median, 99th percentile and worst of each error."""
    table = Table(
        title="the client's error: median / 99th percentile / worst", title_justify="left", box=None,
        padding=(0, 2, 0, 0),
    )  # fmt: skip
    table.add_column("streams of 100 deltas/s")
    for level in levels:
        table.add_column(str(level.streams), justify="right")
    for name in ("stamp_delay_s", "ttft_error_s", "hand_over_s", "server_lateness_s"):
        label = name.removesuffix("_s").replace("_", " ") + ", ms"
        table.add_row(label, *(_shown(getattr(level, name), 1000.0, "+.2f") for level in levels))
    for formula in dict.fromkeys(name for level in levels for name in level.rate_errors):
        shown = (
            _shown(level.rate_errors[formula], 100.0, "+.3f") if formula in level.rate_errors else "none"
            for level in levels
        )
        table.add_row(f"{formula}, %", *shown)
    table.add_row("processor time a delta, us", *(f"{1e6 * level.cpu_s_per_delta:.0f}" for level in levels))
    return table


def _shown(spread: Spread, factor: float, form: str) -> str:
    return " / ".join(format(factor * value, form) for value in (spread.median, spread.p99, spread.worst))


def _held(found: Calibration) -> str:
    if not found.steps:
        return "highest rate held: not tried"
    last = found.steps[-1]
    held = found.held_deltas_per_s
    words = "highest rate held: " + ("none" if held is None else f"{held:.0f} deltas/s over 64 streams")
    if last.held:
        return f"{words}, the highest tried"
    return f"{words}; at {last.level.deltas_per_s:.0f} the {last.limited_by} fell behind"
