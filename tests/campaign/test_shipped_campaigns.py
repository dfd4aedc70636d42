"""The campaigns in the repository: valid, and their plans show exact commands, depths and counts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from armgate.campaign.commands import boot_commands
from armgate.campaign.known import known
from armgate.engines.registry import ENGINES
from armgate.loading.plan import make_plan
from armgate.loading.workspace import Workspace
from armgate.model.plan import Plan

ROOT = Path(__file__).resolve().parents[2]


def planned(name: str) -> tuple[Plan, dict[str, list[str]]]:
    workspace = Workspace(ROOT)
    plan = make_plan(workspace, ROOT / "campaigns" / f"{name}.yaml", known())
    return plan, boot_commands(plan, workspace)


@pytest.mark.parametrize("path", sorted((ROOT / "campaigns").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_campaign_is_valid_and_has_a_command_for_each_arm(path: Path) -> None:
    plan, commands = planned(path.stem)
    assert list(commands) == list(plan.arms)
    assert plan.counts.requests > 0


def test_two_sparks_compare_three_depths_of_one_pinned_draft() -> None:
    plan, commands = planned("two-spark-dflash2")
    assert [arm.depth for arm in plan.arms.values()] == [0, 3, 7]
    deepest = commands["depth-7"]
    assert deepest[:2] == ["docker", "run"]
    assert any(word.endswith("@sha256:4def0ef644cb2e9814136dcffd5e385e21bc594f48f3b292234051904abe85a6")
               for word in deepest)  # fmt: skip
    config = json.loads(deepest[deepest.index("--speculative-config") + 1])
    assert (config["num_speculative_tokens"], config["method"]) == (7, "dflash")
    assert config["revision"] == "bf582e4eacc1810f76656d1811693ff6c6737d2a"
    for setting in ("--max-model-len 131072", "--max-num-seqs 1", "--kv-cache-dtype fp8_e4m3"):
        assert setting in " ".join(deepest)


def test_sglang_is_told_its_own_count_of_the_same_depth() -> None:
    plan, commands = planned("sglang-dflash2")
    on = commands["draft-on"]
    assert plan.arms["draft-on"].depth == 7
    assert on[on.index("--speculative-num-draft-tokens") + 1] == "8"
    assert ENGINES["sglang"].own_depth(plan.arms["draft-on"]) == {"speculative_num_draft_tokens": 8}
    assert not [word for word in commands["draft-off"] if "speculative" in word]


def test_the_attached_service_is_measured_over_both_grids() -> None:
    plan, commands = planned("tensorfold-exl3")
    assert commands == {"as-found": ["attach", "http://127.0.0.1:5000"]}
    assert {gate.gate.id: gate.samples for gate in plan.gates} == {"responds": 1, "sweep": 28, "matrix": 196}
