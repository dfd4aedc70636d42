"""Advice on the draft's depth out of a run's own records."""

from __future__ import annotations

import asyncio

import pytest

from armgate.campaign.comparison import arm_figures, comparison
from armgate.campaign.draft_depth import depth_advice
from armgate.campaign.known import known
from armgate.campaign.progress import Progress
from armgate.campaign.run import execute, start
from armgate.campaign.sandbox import Sandboxes
from armgate.campaign.setting import Setting
from armgate.loading.plan import make_plan
from armgate.loading.workspace import Workspace
from armgate.model.outcome import FIGURES_LOST, ArmVerdict, Family, Outcome, SampleVerdict, Verdict
from armgate.model.plan import Plan
from armgate.model.quality import GateRecord, Identity, QualityRecord
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
    voided = {name: _void(record) for name, record in result.records.items()}
    assert depth_advice(plan, voided) == ()
    for before, record in zip(result.records.values(), voided.values(), strict=True):
        assert arm_figures(plan, before).figures
        seen = arm_figures(plan, record)
        assert (seen.figures, seen.passes, seen.losses, seen.acceptance) == ((), (), (), None)
    assert arm_figures(plan, result.records["deep"]).acceptance is not None


@pytest.mark.parametrize("cause", sorted(FIGURES_LOST))
def test_a_void_of_the_whole_gate_leaves_no_verdicts_and_no_divergence(
    small: SmallWorkspace, cause: str
) -> None:
    path = small.campaign(other={})
    workspace = Workspace(small.root)
    plan = make_plan(workspace, path, known())
    record = recorded(plan)
    seen = arm_figures(plan, record)
    assert (len(seen.passes), len(seen.losses)) == (3, 1)
    seen = arm_figures(plan, _void(record, cause))
    assert (seen.passes, seen.losses) == ((), ())


def recorded(plan: Plan) -> QualityRecord:
    """A record of two gates that passed, as far as figures are read from it."""
    divergence = {
        "prompts": 6,
        "per_1000_tokens": {"value": 1.0, "n": 1000},
        "per_1000_tokens_interval": {"low": 0.1, "high": 5.0, "level": 0.95, "method": "m"},
    }
    sample = SampleVerdict(sample="yes.0", outcome=Outcome.PASSED)
    gates = [
        GateRecord.model_construct(
            gate=gate,
            verdicts={
                "00": Verdict(
                    gate=gate, check="any", family=Family.SEMANTIC, required=True,
                    outcome=Outcome.PASSED, samples=(sample,),
                )
            },
        )
        for gate in plan.gate_ids
    ]  # fmt: skip
    return QualityRecord.model_construct(
        arm="other",
        arm_verdict=ArmVerdict.ACCEPTED,
        reasons=(),
        gates=tuple(gates),
        boots={"00": {"purpose": "first", "ready_s": 1.0}},
        identity=Identity.model_construct(versions={}, resolved={}),
        measurements={"lossless": {"00": {"reference": "base", "divergence": divergence}}},
    )


def _void(record: QualityRecord, cause: str = "foreign_traffic") -> QualityRecord:
    lost = {"outcome": Outcome.VOID, "cause": cause}
    gates = tuple(
        gate.model_copy(
            update={"verdicts": {boot: v.model_copy(update=lost) for boot, v in gate.verdicts.items()}}
        )
        for gate in record.gates
    )
    return record.model_copy(update={"gates": gates})
