"""Bounds and numbers of samples that a gate can never reach are refused where they were written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from armgate.campaign.known import known
from armgate.engines.registry import ENGINES
from armgate.errors import DeclarationError
from armgate.loading.plan import make_plan
from armgate.loading.workspace import Workspace
from support.stand_in import SmallWorkspace, register


@pytest.fixture
def small(tmp_path: Path) -> Iterator[SmallWorkspace]:
    register()
    yield SmallWorkspace.make(tmp_path)
    ENGINES.pop("stand-in", None)


@pytest.mark.parametrize(
    ("gate", "where", "told"),
    [
        ({"threshold": {"passes": 3}}, "threshold.passes", "3 of 2 planned samples"),
        ({"min_samples": 50}, "min_samples", "50 of 2 planned samples"),
        ({"threshold": {"at_least": {"decode_spam": 1}}}, "threshold.at_least.decode_spam", "decode_span"),
    ],
)
def test_what_no_run_can_reach_is_refused(
    small: SmallWorkspace, gate: dict[str, Any], where: str, told: str
) -> None:
    probes = [{"id": "p", "prompt": "x", "samples": 2}]
    made = {"id": "fast", "check": "speed", "required": False, "why": "w", "probes": probes, **gate}
    small.ladder = [*small.ladder[:2], made]
    with pytest.raises(DeclarationError) as caught:
        make_plan(Workspace(small.root), small.campaign(), known())
    (problem,) = caught.value.problems
    assert problem.where == f"gates[2].{where}"
    assert told in problem.message
    assert problem.file is not None
    assert problem.line is not None
