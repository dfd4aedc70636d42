"""Advice on the draft's depth out of a run's own records."""

from __future__ import annotations

import asyncio

import pytest

from armgate.campaign.comparison import comparison
from armgate.campaign.known import known
from armgate.campaign.progress import Progress
from armgate.campaign.run import execute, start
from armgate.campaign.sandbox import Sandboxes
from armgate.campaign.setting import Setting
from armgate.loading.plan import make_plan
from armgate.loading.workspace import Workspace
from support.stand_in import SmallWorkspace


def test_speed_and_acceptance_of_the_same_prompt_come_together(small: SmallWorkspace) -> None:
    prose = {"id": "prose", "prompt": "a b c d e"}
    small.ladder = [
        small.ladder[0],
        {"id": "speed", "check": "speed", "required": False, "why": "figures",
         "probes": [{**prose, "kind": "text"}, {"id": "alone", "prompt": "f g h"}]},
        {"id": "accepted", "check": "acceptance", "required": False, "why": "counters", "probes": [prose]},
    ]  # fmt: skip
    slow = small.replies("slow", {"match": "a b", "text": "a b c d e", "fault": "slow"})
    served = {"serve": {"replies": slow}}
    draft = {"speculative": {"method": "ngram", "depth": 3}}
    path = small.campaign(base=served, deep={**served, **draft}, other={**draft, "says": "other replies"})
    workspace = Workspace(small.root)
    plan = make_plan(workspace, path, known())
    folder = start(plan, small.root / "runs", "campaigns/small.yaml")
    result = asyncio.run(execute(Setting(plan, folder, workspace, Progress(), Sandboxes())))
    made = comparison(plan, result.records)
    assert made is not None
    (advice,) = made.depths
    assert (advice.reference, advice.kind) == ("base", "text, prose")
    assert [(row.arm, row.depth) for row in advice.rows] == [("base", 0), ("deep", 3)]
    assert advice.rows[1].mean_length == 2.0
    assert advice.rows[1].acceptance_rate == pytest.approx(1 / 3)
    assert advice.rows[1].step_s == pytest.approx(2.0 / advice.rows[1].tok_s)
