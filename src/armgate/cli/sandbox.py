"""`armgate sandbox`: which tiers hold on this host, and building the container tier's image."""

from __future__ import annotations

import contextlib
from typing import Annotated

import typer

from armgate.cli.options import JsonOption
from armgate.cli.output import SIGNS, console, inert, print_json
from armgate.execution.container import connect
from armgate.execution.harness import load_harness, sandbox_folder
from armgate.execution.image import build_image, image_name
from armgate.execution.tiers import TIERS, Attempt, try_tier
from armgate.model.base import Json
from armgate.model.outcome import Outcome

sandbox = typer.Typer(no_args_is_help=True, help="Sandboxes: what holds on this host, the container image.")

TierArgument = Annotated[
    list[str] | None, typer.Argument(help="Tiers; all of them by default.", show_default=False)
]
BaseOption = Annotated[
    str | None,
    typer.Option("--base", help="A base image by digest (name@sha256:...) instead of this machine's Python."),
]


@sandbox.command("list")
def list_(names: TierArgument = None, as_json: JsonOption = False) -> None:
    """Start each tier, strongest first, and run its self-test; exit 0 if one holds, 4 if none does."""
    harness = load_harness(sandbox_folder())
    attempts = [try_tier(name, harness) for name in (names or reversed(TIERS))]
    for attempt in attempts:
        if attempt.backend is not None:
            attempt.backend.close()
    if as_json:
        print_json([_document(attempt) for attempt in attempts])
    else:
        for attempt in attempts:
            _show(attempt)
    if all(attempt.examined is None for attempt in attempts):
        raise typer.Exit(4)


def _document(attempt: Attempt) -> Json:
    found = attempt.examined
    return {
        "tier": attempt.name,
        "holds": found is not None,
        "refusal": attempt.refusal,
        "factor": found.factor if found else None,
        "isolation": found.tier.model_dump(mode="json") if found else None,
    }


def _show(attempt: Attempt) -> None:
    out, found = console(), attempt.examined
    sign, colour = SIGNS[Outcome.PASSED if found else Outcome.VOID]
    said = found.tier.version if found else attempt.refusal
    line = inert(f"{sign} {attempt.name}: {said}")
    out.print(line, style=colour, markup=False, highlight=False, soft_wrap=True)
    if found is None:
        return
    for what in found.tier.isolates:
        out.print(f"    isolates  {what}", markup=False, highlight=False, soft_wrap=True)
    for what in found.tier.does_not:
        out.print(f"    does not  {what}", markup=False, highlight=False, soft_wrap=True)
    out.print(f"    limits are scaled by {found.factor:g} on this host", markup=False, highlight=False)


@sandbox.command("build")
def build(base: BaseOption = None, as_json: JsonOption = False) -> None:
    """Build the container tier's image; without --base from this machine's own Python, without a registry."""
    folder = sandbox_folder()
    with contextlib.closing(connect()) as client:
        image = build_image(client, folder, base)
    if as_json:
        print_json({"image": image, "name": image_name(folder), "base": base})
    else:
        console().print(f"{image_name(folder)} {image}", markup=False, highlight=False, soft_wrap=True)
