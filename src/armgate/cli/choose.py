"""`armgate choose RUN`: which arm the run's evidence lets one ship, as an exit code."""

from __future__ import annotations

import typer

from armgate.campaign.finished import read_run
from armgate.cli.comparison_tables import choice_lines
from armgate.cli.options import JsonOption, RunArgument
from armgate.cli.output import console, print_json

EXIT_CODES = {"winner": 0, "none_qualifies": 1, "tie": 3, "insufficient_evidence": 3}


def choose(run: RunArgument, as_json: JsonOption = False) -> None:
    """Choose a qualified arm. Exit code: 0 a winner, 1 none qualifies, 3 a tie or too little evidence."""
    choice = read_run(run).comparison().choice
    code = EXIT_CODES[choice.status]
    if as_json:
        print_json({**choice.model_dump(mode="json"), "exit_code": code})
    else:
        for line in choice_lines(choice):
            console().print(line, highlight=False, markup=False)
    raise typer.Exit(code)
