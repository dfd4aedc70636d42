"""`METHODOLOGY.md` of a published copy: what was done, what is in it, what is not, and how to check it."""

from __future__ import annotations

from armgate.model.plan import Plan
from armgate.model.publication import Publication
from armgate.reporting.inert import markdown


def methodology(record: Publication, plan: Plan) -> str:
    return "\n".join([*_head(record, plan), *_method(plan), *_contents(record), *_checking(record)])


def _head(record: Publication, plan: Plan) -> list[str]:
    counts = plan.counts
    return [
        f"# {markdown(plan.campaign)}: how this run was made",
        "",
        markdown(plan.says) if plan.says else "A run of an Armgate campaign.",
        "",
        f"- Armgate {record.armgate_version}; plan as run `{record.source_plan_digest}`, "
        f"plan of this copy `{record.plan_digest}`.",
        f"- {counts.arms} arms, {counts.boots} boots, {counts.gates} gates a boot, "
        f"{counts.requests} requests, {counts.verdicts} verdicts; reference {markdown(plan.reference)}.",
        "",
    ]


def _method(plan: Plan) -> list[str]:
    required = [planned.gate for planned in plan.gates if planned.gate.required]
    lines = [
        "## Method",
        "",
        "Each boot starts one server of one pinned configuration and stops it after its last gate. Gates "
        "run in ladder order. Every exchange is on disk before it is judged, and a verdict rests on "
        "recorded files alone. Token counts are the server's own; times count from the hand-over of the "
        "request to the socket; every figure in `quality.json` names its formula and its n.",
        "",
        "Required gates and why, fixed before the first boot:",
        "",
    ]
    return [*lines, *(f"- **{markdown(gate.id)}**: {markdown(gate.why)}" for gate in required), ""]


def _contents(record: Publication) -> list[str]:
    replies = (
        "Raw replies are published."
        if record.replies == "yes"
        else "Raw replies are withheld by the publisher's choice. **This copy is not re-judgeable.**"
    )
    return [
        "## What is in this copy",
        "",
        replies,
        "",
        "Left out:",
        "",
        *(f"- {one.what}: {one.why}." for one in record.left_out),
        "",
    ]


def _checking(record: Publication) -> list[str]:
    judge = ["- `armgate judge FOLDER`: the same verdicts again from the recorded bytes"]
    return [
        "## Check it",
        "",
        "- `armgate verify FOLDER` (or `sha256sum -c SHA256SUMS`): every file against its digest",
        *(judge if record.re_judgeable else []),
        "- `armgate report FOLDER`: page, data set and tables again, byte for byte",
        "- `publication.json`: what was searched for in this copy before it was published",
        "",
    ]
