"""Runs the quickstart campaign and says what its exit code means for `scripts/demo`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from prepare import program
from prepare.armgate import armgate_environment
from prepare.places import Places

CAMPAIGN = "campaigns/quickstart.yaml"

MEANINGS = {
    0: "every arm was accepted",
    1: "at least one arm was rejected by a required gate",
    2: "the campaign or the command is wrong",
    3: "inconclusive: a required gate has no verdict",
    4: "infrastructure error",
    5: "nothing ran",
    130: "interrupted",
}

VERDICT_CODES = frozenset({0, 1, 3})
"""Codes that a campaign ends with when it did its job, whatever the arms are worth."""


def run_quickstart(places: Places, arguments: Sequence[str]) -> int:
    """Run it in the foreground; 0 where it ended in a verdict with a complete record, else its code."""
    runs = places.root / _out(arguments)
    before = run_folders(runs)
    armgate = armgate_environment(places).folder / "bin" / "armgate"
    code = program.foreground([str(armgate), "run", CAMPAIGN, *arguments], places.root)
    new = sorted(run_folders(runs) - before)
    missing = missing_records(new[-1]) if new else ["the run folder"]
    print(f"\narmgate ended with exit code {code}: {MEANINGS.get(code, 'not one of its codes')}")
    if code not in VERDICT_CODES:
        return code if code > 0 else 128 - code
    if missing:
        print(f"but the record is not complete; missing: {', '.join(missing)}")
        return 4
    print(f"the record is complete: {new[-1]}")
    return 0


def run_folders(runs: Path) -> set[Path]:
    """Folders of runs: `<campaign>/<time and digest>/` with a plan in it."""
    return {plan.parent for plan in runs.glob("*/*/plan.json")}


def missing_records(folder: Path) -> list[str]:
    """What a finished run would have and this one has not, as paths in its folder."""
    arms = json.loads((folder / "plan.json").read_text())["plan"]["arms"]
    due = [*(f"arms/{arm}/quality.json" for arm in arms), "comparison.json"]
    return [path for path in due if not (folder / path).is_file()]


def _out(arguments: Sequence[str]) -> str:
    for n, argument in enumerate(arguments):
        if argument.startswith("--out="):
            return argument.removeprefix("--out=")
        if argument == "--out" and n + 1 < len(arguments):
            return arguments[n + 1]
    return "runs"
