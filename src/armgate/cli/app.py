"""The command line's root: options that every command shares, errors mapped to exit codes in one place."""

from __future__ import annotations

import os
import sys
import traceback

import typer

import armgate
from armgate.cli.attach import attach
from armgate.cli.calibrate import calibrate
from armgate.cli.check import check
from armgate.cli.choose import choose
from armgate.cli.compare import compare
from armgate.cli.contracts import contracts
from armgate.cli.judge import judge
from armgate.cli.orphans import orphans
from armgate.cli.output import error_console
from armgate.cli.pin import pin
from armgate.cli.plan import plan
from armgate.cli.publish import publish
from armgate.cli.report import report
from armgate.cli.resume import resume
from armgate.cli.run import run
from armgate.cli.sandbox import sandbox
from armgate.cli.schema import schema
from armgate.cli.tasks import tasks
from armgate.cli.validate import validate
from armgate.cli.verify import verify
from armgate.errors import ArmgateError, DeclarationError

app = typer.Typer(
    name="armgate",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Which arm may ship? Quality-gate campaigns with strict response contracts.",
)


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"armgate {armgate.__version__}\n")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print it."),
    debug: bool = typer.Option(False, "--debug", help="Show tracebacks of errors."),
) -> None:
    if debug:
        os.environ["ARMGATE_DEBUG"] = "1"


for command in (
    run, attach, pin, resume, plan, validate, judge, compare, choose, report, verify, publish, check,
    calibrate, orphans, schema,
):  # fmt: skip
    app.command()(command)
app.add_typer(contracts, name="contracts")
app.add_typer(tasks, name="tasks")
app.add_typer(sandbox, name="sandbox")


def main() -> None:
    """Run a command. The only place where an error of ours becomes an exit code."""
    try:
        app()
    except ArmgateError as error:
        _tell(error)
        sys.exit(error.exit_code)
    except Exception:
        traceback.print_exc()
        error_console().print("this is a fault of Armgate itself; the record so far is kept", markup=False)
        sys.exit(ArmgateError.exit_code)


def _tell(error: ArmgateError) -> None:
    if os.environ.get("ARMGATE_DEBUG"):
        traceback.print_exc()
    console = error_console()
    if isinstance(error, DeclarationError) and len(error.problems) > 1:
        console.print(f"{len(error.problems)} problems:", markup=False, highlight=False)
    console.print(str(error), markup=False, highlight=False, soft_wrap=True)
