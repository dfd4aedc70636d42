"""Long-context gates in a plan: recipes by name, sweeps written out, drift at the end, refusals."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from armgate.campaign.known import known
from armgate.engines.registry import ENGINES
from armgate.errors import DeclarationError
from armgate.judging.checks import CHECKS
from armgate.judging.kinds.responds import Responds
from armgate.loading.plan import make_plan
from armgate.loading.workspace import Workspace
from armgate.model.gates import Gate
from armgate.model.plan import Plan
from support.stand_in import SmallWorkspace, register

ROOT = Path(__file__).resolve().parents[2]
RECIPE: dict[str, Any] = {"question": "Which?", "markers": [{"id": "code"}]}


LINES: dict[str, Any] = {**RECIPE, "lines": 3}
NO_MARKERS: dict[str, Any] = {"question": "Which?", "lines": 3}
PLAIN = {"id": "p", "prompt": "hello"}


class SendsNothing(Responds):
    """A check that would be content without a probe."""

    def problems(self, gate: Gate) -> Sequence[tuple[str, str]]:
        return ()


@pytest.fixture
def small(tmp_path: Path) -> Iterator[SmallWorkspace]:
    register()
    yield SmallWorkspace.make(tmp_path)
    ENGINES.pop("stand-in", None)


def planned(small: SmallWorkspace, **gate: Any) -> Plan:
    made = {"id": "long", "check": "retrieval", "required": False, "why": "w", **gate}
    small.ladder = [*small.ladder[:2], made]
    return make_plan(Workspace(small.root), small.campaign(), known())


@pytest.fixture
def shipped(small: SmallWorkspace) -> Plan:
    """The shipped ladder, named by a campaign of another workspace."""
    for folder in ("contracts", "gates"):
        shutil.copytree(ROOT / folder, small.root / folder, dirs_exist_ok=True)
    campaign = small.campaign()
    body = json.loads(campaign.read_text())
    campaign.write_text(json.dumps({**body, "ladder": "gates/strict-then-long.yaml"}))
    return make_plan(Workspace(small.root), campaign, known())


def test_the_shipped_ladder_asks_the_archive_and_ends_with_its_first_contract(shipped: Plan) -> None:
    archive = shipped.gate("archive-120k")
    (probe,) = archive.gate.probes
    assert probe.haystack is not None
    assert (probe.haystack.lines, archive.gate.answer) == (5241, "json_array")
    assert "gates/haystacks/two-spark-archive.yaml" in shipped.inputs
    assert shipped.gate_ids[-1] == "ready-again"
    again = shipped.gate("ready-again")
    assert (again.repeat_of, again.gate.requires, again.gate.required) == ("ready", ("ready",), True)
    for name in ("sustained-english", "sustained-korean"):
        assert {probe.max_tokens for probe in shipped.gate(name).gate.probes} == {"window"}


def test_the_repeat_is_counted_and_sent_last(small: SmallWorkspace) -> None:
    without = make_plan(Workspace(small.root), small.campaign(), known())
    path = small.root / "gates" / "small.yaml"
    body = json.loads(path.read_text())
    path.write_text(json.dumps({**body, "drift": {}}))
    plan = make_plan(Workspace(small.root), small.root / "campaigns" / "small.yaml", known())
    assert plan.gate_ids == (*without.gate_ids, "yes-again")
    assert plan.counts.requests == without.counts.requests + 1
    assert plan.counts.verdicts == without.counts.verdicts + 1
    assert [gate.repeat_of for gate in plan.gates if gate.repeat_of] == ["yes"]


@pytest.mark.parametrize(
    ("drift", "says"),
    [
        ({"gate": "nowhere"}, "drift: no gate 'nowhere'"),
        ({"gate": "after-yes", "required": True}, "'after-yes' that it repeats is advisory"),
    ],
)
def test_a_drift_that_cannot_be_seen_is_refused(
    small: SmallWorkspace, drift: dict[str, Any], says: str
) -> None:
    campaign = small.campaign()
    path = small.root / "gates" / "small.yaml"
    path.write_text(json.dumps({**json.loads(path.read_text()), "drift": drift}))
    with pytest.raises(DeclarationError, match=says):
        make_plan(Workspace(small.root), campaign, known())


def test_a_sweep_is_written_out_with_a_fresh_prefix_for_each_cell(small: SmallWorkspace) -> None:
    sweep = {"lengths": [500, "window"], "depths": [0.0, 0.125], "seeds": [3], "repeats": 2}
    plan = planned(small, haystack=RECIPE, sweep=sweep)
    probes = plan.gate("long").gate.probes
    assert [probe.id for probe in probes] == [
        "500.d0.s3",
        "500.d12.5.s3",
        "window.d0.s3",
        "window.d12.5.s3",
    ]
    specs = [probe.haystack for probe in probes if probe.haystack is not None]
    assert all(spec.fresh_prefix and spec.seed == 3 for spec in specs)
    assert [(spec.target_tokens, spec.markers[0].depth) for spec in specs][1::2] == [
        (500, 0.125),
        ("window", 0.125),
    ]
    assert {probe.samples for probe in probes} == {3}
    assert plan.gate("long").samples == 12


CELL = {"lengths": [9], "depths": [0]}


@pytest.mark.parametrize(
    ("gate", "says"),
    [
        ({"haystack": "nothing"}, r"no such file: gates/haystacks/nothing\.yaml"),
        ({"haystack": RECIPE}, "no length: give target_tokens or lines, or a sweep"),
        ({"haystack": {**RECIPE, "lines": 3}, "sweep": CELL}, "the sweep sets the lengths"),
        ({"haystack": {**RECIPE, "markers": []}, "sweep": CELL}, "exactly one"),
        ({"haystack": RECIPE, "sweep": {**CELL, "lengths": [9, 9]}}, "lengths: a value is given twice"),
        ({"check": "sustained", "haystack": RECIPE, "sweep": CELL}, "a sweep is of check 'retrieval'"),
        ({"haystack": {**RECIPE, "lines": 3, "markers": []}}, "an empty array: answer: json_array"),
        ({"haystack": {**RECIPE, "lines": 3, "markers": [{"id": "a", "sentence": "x"}]}}, "not contain"),
        ({"haystack": {**RECIPE, "target_tokens": "all"}}, "target_tokens"),
        ({"probes": [{"id": "p", "haystack": RECIPE}]}, "exactly one of target_tokens and lines"),
        ({"haystack": LINES, "probes": [PLAIN]}, "the haystack makes the probes .* beside it stand p"),
        ({"probes": [PLAIN, {"id": "q", "haystack": LINES}]}, "without a haystack ask for nothing: p$"),
        ({"haystack": NO_MARKERS, "ask": "one_each", "answer": "json_array"}, "one_each of no markers"),
        ({"probes": [{"id": "q", "haystack": LINES}], "ask": "one_each"}, "and there is none"),
        ({"check": "responds", "probes": [PLAIN], "haystack": LINES}, "'responds' does not read it"),
        ({"check": "responds", "probes": [PLAIN], "ask": "one_each"}, "'ask' is of check 'retrieval'"),
        ({"check": "responds", "probes": [PLAIN], "answer": "text"}, "'answer' is of check 'retrieval'"),
        ({"check": "sends-nothing"}, "would send nothing"),
        ({"haystack": LINES, "options": {"max_tokens": 0}}, "max_tokens.*greater than or equal to 1"),
        ({"haystack": RECIPE, "sweep": {**CELL, "depths": [0.12345678, 0.12345679]}}, "probe ids used twice"),
        ({"haystack": RECIPE, "sweep": {**CELL, "seeds": [10**80]}}, "id: "),
        ({"haystack": {**RECIPE, "decoys": [{"of": "code", "at_tokens": 99}]}, "sweep": CELL}, "lies beyond"),
    ],
)
def test_what_cannot_be_sent_is_refused_where_it_was_written(
    small: SmallWorkspace, gate: dict[str, Any], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CHECKS, "sends-nothing", SendsNothing())
    with pytest.raises(DeclarationError, match=says) as refused:
        planned(small, **gate)
    assert "small.yaml:" in str(refused.value)
