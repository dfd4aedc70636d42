"""Runs of the stand-in engine that end in every way a report has to show."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from armgate.campaign.known import known
from armgate.campaign.progress import Progress
from armgate.campaign.run import execute, start
from armgate.campaign.sandbox import Sandboxes
from armgate.campaign.setting import Setting
from armgate.engines.registry import ENGINES
from armgate.loading.plan import make_plan
from armgate.loading.workspace import Workspace
from armgate.reporting.run_folder import RunFolder
from support.stand_in import SmallWorkspace, register

ESCAPES = "\x1b[31mred\x1b[0m \x1b]0;owned\x07 \u202eevil\u202c \u2066isolate\u2069 zero\u200bwidth"
HTML = (
    "<script>window.owned=1;document.title='owned'</script>"
    "<img src=x onerror=\"window.owned=2\"><svg onload='window.owned=3'></svg>"
    '<a href="javascript:window.owned=4">click</a><iframe srcdoc="<script>parent.owned=5</script>"></iframe>'
    "<style>*{display:none!important}</style><link rel=stylesheet href=//evil.example/x.css>"
    "</pre></details></main></body></html>\"'><base href=//evil.example/>{{ 7*7 }}{% raw %}"
)
FORMULAS = ('=HYPERLINK("http://evil.example","x")', "+cmd|' /C calc'!A0", "@SUM(1+1)", "-2+3", "\t=1+1")


Replies = list[dict[str, Any]]


def run_small(
    root: Path, replies: dict[str, Replies], arms: dict[str, Any], gates: Replies | None = None
) -> RunFolder:
    """A run of `base` and the given arms, in a workspace of its own with `gates` after the usual ones."""
    register()
    try:
        small = SmallWorkspace.make(root)
        small.ladder += gates or []
        for name, told in replies.items():
            arms = {**arms, name: {"serve": {"replies": small.replies(name, *told)}}}
        workspace = Workspace(root)
        plan = make_plan(workspace, small.campaign(**arms), known())
        run = start(plan, root / "runs", "campaigns/small.yaml")
        asyncio.run(execute(Setting(plan, run, workspace, Progress(), Sandboxes())))
    finally:
        ENGINES.pop("stand-in", None)
    return run


def mixed(root: Path) -> RunFolder:
    """Arms that are accepted, rejected (with a skip), inconclusive (a void) and never booted."""
    replies = {
        "broken": [{"match": "say yes", "text": "yes indeed"}],
        "cut": [{"match": "say yes", "text": "yes and more", "fault": "drop"}],
    }
    deep = {"speculative": {"method": "ngram", "depth": 3}}
    return run_small(root, replies, {"deep": deep, "sick": {"serve": {"die_at_start": True}}})


def hostile(root: Path, big_bytes: int = 10_000_000) -> RunFolder:
    """An arm whose replies are all that a model could do to a page, a terminal or a spreadsheet."""
    texts = {"html": HTML, "escapes": ESCAPES, "big": "<b>" + "A" * big_bytes, "halves": "\ud800 half"}
    texts |= {f"formula-{n}": text for n, text in enumerate(FORMULAS)}
    told = [{"match": f"say yes to {name}.", "text": text} for name, text in texts.items()]
    told.append({"match": "say yes to bytes.", "text": "yes \udcff\udcfe", "fault": "bytes"})
    probes = [{"id": name, "prompt": f"say yes to {name}."} for name in (*texts, "bytes")]
    gate = {"id": "evil", "check": "contract", "contract": "says-yes", "required": True, "why": "a form"}
    return run_small(root, {"evil": told}, {}, [gate | {"probes": probes}])
