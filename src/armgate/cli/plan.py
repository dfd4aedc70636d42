"""`armgate plan CAMPAIGN`: what a run would start, send and decide, without starting anything."""

from __future__ import annotations

from rich.table import Table

from armgate.campaign.commands import boot_commands
from armgate.campaign.known import known
from armgate.cli.options import CampaignArgument, JsonOption, WorkspaceOption
from armgate.cli.output import console, print_json
from armgate.loading.plan import make_plan
from armgate.loading.workspace import find_workspace
from armgate.model.plan import Plan, PlannedGate


def plan(campaign: CampaignArgument, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """Show the boots in order with their exact commands, the ladder, and what will be counted."""
    place = find_workspace(workspace, campaign.resolve().parent)
    planned = make_plan(place, campaign, known())
    commands = boot_commands(planned, place)
    if as_json:
        body = planned.model_dump(mode="json", by_alias=True)
        print_json({"digest": planned.digest(), "commands": commands, "plan": body})
        return
    out = console()
    out.print(f"{planned.campaign}  {planned.digest()}", markup=False, highlight=False)
    for arm, command in commands.items():
        out.print(f"\n{arm} (reference: {planned.arms[arm].reference})", markup=False, highlight=False)
        out.print("  " + " ".join(command), markup=False, highlight=False, soft_wrap=True)
    out.print("\nboots: " + ", ".join(_boots(planned)), markup=False, highlight=False, soft_wrap=True)
    out.print(_ladder(planned))
    counts = planned.counts
    out.print(
        f"{counts.arms} arms, {counts.boots} boots, {counts.gates} gates a boot: {counts.verdicts} verdicts "
        f"from {counts.requests} requests",
        highlight=False,
    )


def _boots(planned: Plan) -> list[str]:
    """Every boot in its order; what it is for, where it is not an arm's first."""
    words = {"first": "", "replicate": " (replicate)", "teacher_forcing": " (replays answers)"}
    named = [f"{boot.arm} {boot.boot:02d}{words[boot.purpose]}" for boot in planned.boots]
    return named + (["the chosen arm once more (final)"] if planned.has_final_slot else [])


def _ladder(planned: Plan) -> Table:
    table = Table(title="ladder", title_justify="left", box=None, padding=(0, 2, 0, 0))
    for heading in ("gate", "check", "family", "", "samples", "warm-up", "requires", "why"):
        table.add_column(heading, overflow="fold")
    for entry in planned.gates:
        gate = entry.gate
        table.add_row(
            gate.id,
            gate.check,
            entry.family.value,
            "required" if gate.required else "advisory",
            _samples(entry),
            str(sum(probe.warm_up for probe in entry.probes)),
            ", ".join(gate.requires) + (" (stops)" if gate.on_failure == "stop" else ""),
            gate.why,
        )
    return table


def _samples(entry: PlannedGate) -> str:
    """Measured requests of one boot, by concurrency where there is more than one request at a time."""
    by_level: dict[int, int] = {}
    for probe in entry.gate.probes:
        by_level[probe.concurrency] = by_level.get(probe.concurrency, 0) + probe.samples
    if set(by_level) <= {1}:
        return str(entry.samples)
    return f"{entry.samples} (" + ", ".join(f"c{level} {n}" for level, n in sorted(by_level.items())) + ")"
