"""`report.html` and the pages of replies beside it."""

from __future__ import annotations

from collections.abc import Iterator

from armgate.model.outcome import Outcome
from armgate.reporting.facts import RunFacts
from armgate.reporting.page import overview, resources, retrieval, speculation, speed, verdicts
from armgate.reporting.page.places import replies_file, verdict_id
from armgate.reporting.page.render import page_bytes

REPLIES_PAGE_BYTES = 3_000_000
"""Of replies on one boot's page."""


def report_page(run: RunFacts) -> bytes:
    plan = run.plan_file.plan
    view = {
        "run": run,
        "plan": plan,
        "exit_words": overview.EXIT_WORDS.get(run.exit_code, ""),
        "outcomes": [(verdicts.SIGNS[outcome], outcome.value) for outcome in Outcome],
        "arms": overview.arm_rows(run),
        "columns": overview.columns(run),
        "matrix": overview.matrix(run),
        "boots": verdicts.boot_views(run),
        "speed": speed.speed_plots(run),
        "ttft": speed.ttft_plots(run),
        "acceptance": speculation.acceptance_rows(run),
        "divergence": speculation.divergence_rows(run),
        "markers": retrieval.marker_maps(run),
        "memory": resources.memory_plots(run),
        "interference": resources.interference_rows(run),
        "timeline": resources.boot_rows(run),
        "pins": overview.pin_rows(run),
        "settings": overview.settings(run),
        "references": [line for reference in plan.references for line in reference.words],
        "limits": _limits(run),
    }
    return page_bytes("report.html.jinja", view, _only_arm(len(plan.arms)))


def _only_arm(count: int) -> str:
    """The rules by which choosing one arm hides the others below the form. Asked of the form, which is
    small: of the whole page each of a hundred such questions costs as much as laying it out."""
    hidden = "form:has(#arm-all:not(:checked)) ~ * .arm{display:none}\n"
    shown = (f"form:has(#arm-{n}:checked) ~ * .a{n}{{display:revert}}\n" for n in range(count))
    return hidden + "".join(shown)


def _limits(run: RunFacts) -> list[tuple[str, str]]:
    """(limit, arms it holds for) in the order met; those of the comparison hold for all."""
    found: dict[str, list[str]] = {}
    for name, record in run.records.items():
        for limit in record.limits:
            found.setdefault(limit, []).append(name)
    every = len(run.records)
    said = [(limit, "every arm" if len(arms) == every else ", ".join(arms)) for limit, arms in found.items()]
    compared = run.comparison.limits if run.comparison is not None else ()
    return said + [(limit, "the comparison") for limit in compared]


def replies_pages(run: RunFacts) -> Iterator[tuple[str, bytes]]:
    """A page for each boot that has a reply on file: every judged reply, with its violations marked."""
    for (arm, boot), facts in run.boots.items():
        if not facts.replies:
            continue
        room = verdicts.Room(REPLIES_PAGE_BYTES, verdicts.FULL_BYTES)
        gates = [
            (gate, f"../../../../report.html#{verdict_id(arm, boot, gate)}",
             [verdicts.own_sample_view(facts, gate, sample, room) for sample in facts.verdicts[gate].samples])
            for gate in run.plan_file.plan.gate_ids
            if gate in facts.verdicts and facts.verdicts[gate].samples
        ]  # fmt: skip
        view = {"run": run, "arm": arm, "boot": boot, "gates": gates}
        yield replies_file(arm, boot), page_bytes("replies.html.jinja", view)
