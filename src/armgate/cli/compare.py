"""`armgate compare RUN`: what may be said of the arms of a run, and what differs between them."""

from __future__ import annotations

from rich.table import Table

from armgate.campaign.comparison import comparison
from armgate.campaign.derived import boots_begun, quality_records, read_plan, recorded_verdicts
from armgate.cli.options import JsonOption, RunArgument
from armgate.cli.output import console, inert, print_json
from armgate.cli.summary import summary
from armgate.errors import RecordError
from armgate.model.comparison import Comparison
from armgate.reporting.run_folder import RunFolder


def compare(
    run: RunArgument,
    as_json: JsonOption = False,
) -> None:
    """Compare the arms of a run with their reference, from the recorded verdicts."""
    folder = RunFolder(run)
    plan_file = read_plan(folder)
    plan = plan_file.plan
    boots = boots_begun(folder, plan)
    verdicts = {(b.arm, b.boot): recorded_verdicts(folder.boot(b.arm, b.boot)) for b in boots}
    records = quality_records(folder, plan, plan_file.digest, verdicts)
    made = comparison(plan, records)
    if made is None:
        raise RecordError(f"{run}: the reference arm {plan.reference!r} has no record yet")
    if as_json:
        print_json(made.model_dump(mode="json"))
        return
    out = console()
    out.print(summary(records))
    out.print(_contrasts(made))
    out.print(inert(made.choice.statement), highlight=False)
    for limit in made.limits:
        out.print(f"limit: {inert(limit)}", highlight=False)


def _contrasts(made: Comparison) -> Table:
    table = Table(title=f"against {made.reference}", title_justify="left", box=None, padding=(0, 2, 0, 0))
    for heading in ("arm", "factor", "metric", "kind", "ratio", "claim", "why"):
        table.add_column(heading, overflow="fold")
    for arm in made.arms:
        factor = arm.attribution.factor if arm.attribution is not None else "the reference"
        for contrast in arm.contrasts:
            table.add_row(
                arm.name,
                factor,
                contrast.metric,
                contrast.kind,
                f"{contrast.ratio:.3f}",
                contrast.claim.replace("_", " "),
                contrast.why,
            )
    return table
