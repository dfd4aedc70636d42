"""`armgate compare RUN`: what may be said of the arms of a run, and what differs between them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from armgate.campaign.finished import read_run
from armgate.campaign.published import compare_published
from armgate.campaign.regression import compare_runs
from armgate.cli.comparison_tables import arms_table, choice_lines, claims_table, depth_lines
from armgate.cli.options import JsonOption, RunArgument
from armgate.cli.output import console, inert, print_json
from armgate.cli.regression_table import regression_lines, regression_table
from armgate.loading.published_figures import is_published
from armgate.model.comparison import Comparison
from armgate.model.published import PublishedComparison, PublishedControl


def compare(
    run: RunArgument,
    against: Annotated[
        Path | None, typer.Option("--against", help="An older run of the same ladder.", show_default=False)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare the arms of a run with their references, or with the same arms of an older run.

    RUN may also be a published experiment's folder: a table of variants (comparison.json) and their results.
    With --against the exit code is 1 where an arm or a required gate got worse, and 2 where not the same was
    asked of both runs.
    """
    if against is not None:
        _regression(run, against, as_json)
        return
    if is_published(run):
        _published(run, as_json)
        return
    made = read_run(run).comparison()
    if as_json:
        print_json(made.model_dump(mode="json"))
        return
    _tell(console(), made)


def _regression(run: Path, against: Path, as_json: bool) -> None:
    made = compare_runs(read_run(run), read_run(against))
    if as_json:
        print_json({**made.model_dump(mode="json"), "worse": made.worse})
    else:
        out = console()
        out.print(regression_table(made))
        for line in regression_lines(made):
            out.print(inert(line), highlight=False, markup=False)
    raise typer.Exit(1 if made.worse else 0)


def _tell(out: Console, made: Comparison) -> None:
    out.print(arms_table(made))
    out.print(claims_table(made))
    for advice in made.depths:
        for line in depth_lines(advice):
            out.print(inert(line), highlight=False, markup=False)
    for line in choice_lines(made.choice):
        out.print(line, highlight=False, markup=False)
    for line in (line for reference in made.references for line in reference.words):
        out.print(inert(line), highlight=False, markup=False)
    for limit in made.limits:
        out.print(f"limit: {inert(limit)}", highlight=False, markup=False)


def _published(folder: Path, as_json: bool) -> None:
    made = compare_published(folder)
    if as_json:
        print_json(made.model_dump(mode="json"))
        return
    out = console()
    _tell(out, made.comparison)
    for line in _published_lines(made):
        out.print(inert(line), highlight=False, markup=False)


def _published_lines(made: PublishedComparison) -> Iterator[str]:
    for one in made.pooled:
        ratio = "" if one.ratio is None else f", {one.ratio:.3f} times {made.comparison.reference}"
        yield f"{one.label}: {one.name} {one.median:.3f} tok/s (n={one.n}{ratio}); {one.interval_absent}"
    for arm in made.comparison.arms:
        if arm.acceptance is not None:
            rate, length = arm.acceptance.rate, arm.acceptance.mean_length
            yield (
                f"acceptance: {arm.name} {rate.value:.1%} ({rate.formula}), "
                f"mean length {length.value:.3f} ({length.formula})"
            )
    yield from (_control_line(control) for control in made.controls)
    yield from (f"limit: {limit}" for limit in made.limits)


def _control_line(control: PublishedControl) -> str:
    counts = " and ".join(map(str, control.completion_tokens))
    said = "same twice" if control.repeated_itself else "not the same twice"
    parted = control.pair.divergence if control.pair is not None else None
    if parted is not None:
        place = f"; {parted.channel} parts at {parted.unit[:-1]} {parted.index}"
        said += f"{place}: {parted.reference_text!r} against {parted.arm_text!r}"
    elif control.pair is None:
        said += "; texts not published"
    return f"A/A: {control.variant} on {control.prompt}: {counts} tokens, {said}"
