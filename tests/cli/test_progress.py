"""What a run looks like on a terminal and in a log."""

import io
import threading
from pathlib import Path

import pytest
from rich.console import Console

from armgate.campaign.known import known
from armgate.campaign.progress import Progress
from armgate.cli.progress import LiveView, PlainLines, expected
from armgate.loading.plan import make_plan
from armgate.loading.workspace import Workspace
from armgate.model.outcome import Family, Outcome, Verdict, Violation
from armgate.model.plan import Plan

ROOT = Path(__file__).resolve().parents[2]
ESCAPE = "\x1b"


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(Workspace(ROOT), ROOT / "campaigns" / "quickstart.yaml", known())


def drive(progress: Progress, plan: Plan) -> None:
    boot, planned = plan.boots[0], plan.gate("json-person")
    progress.run_started(plan, Path("runs/x"))
    progress.boot_started(boot)
    progress.note("loading weights \x1b[2J")
    progress.boot_ready(12.5)
    progress.gate_started(planned)
    progress.request_done(planned, 20, 1.5)
    progress.gate_done(
        Verdict(
            gate="json-person",
            check="contract",
            family=Family.CONTRACT,
            required=True,
            outcome=Outcome.FAILED,
            message="exact: found '\x1b]0;owned\x07'",
            violations=(Violation(clause="exact", message="no"),),
        )
    )
    progress.boot_ended(boot, None)


def test_plain_lines_tell_every_step_and_stay_inert(plan: Plan) -> None:
    out = io.StringIO()
    drive(PlainLines(Console(file=out, width=200)), plan)
    told = out.getvalue()
    assert "baseline: ready after 12.5 s" in told
    assert "baseline: json-person failed: exact: found" in told
    assert ESCAPE not in told


def test_the_live_view_draws_gates_by_arms(plan: Plan) -> None:
    out = io.StringIO()
    console = Console(file=out, width=100, force_terminal=True, color_system=None)
    with LiveView(console) as view:
        drive(view, plan)
        console.print(view._draw())
    told = out.getvalue()
    row = next(line for line in told.splitlines() if line.startswith("json-person"))
    assert row.split()[1:] == ["x", *["."] * (len(plan.arms) - 1)]
    assert f"1/{plan.counts.requests} requests" in told
    assert "\x1b[2J" not in told
    assert "owned" not in told


def test_the_live_view_tells_the_probe_its_rate_and_how_long_it_will_take(plan: Plan) -> None:
    console = Console(file=io.StringIO(), width=120)
    view = LiveView(console)
    drive(view, plan)
    view.request_started(plan.gate("json-person"), "maria.0")
    assert "json-person maria.0" in view._status(plan).plain
    assert "13.3 tok/s (20 tokens in 1.5 s)" in view._status(plan).plain
    assert expected(100.0, 50, 200) == " of about 400 s"
    assert expected(100.0, 4, 200) == ""


def test_of_many_arms_those_around_the_current_one_are_shown(plan: Plan) -> None:
    arm = plan.arms["baseline"]
    many = plan.model_copy(update={"arms": {f"arm-{n}": arm for n in range(100)}})
    view = LiveView(Console(file=io.StringIO()))
    for at, first in (("arm-0", "arm-0"), ("arm-50", "arm-44"), ("arm-99", "arm-92")):
        view.arm = at
        shown = view._arms_shown(many)
        assert len(shown) == 8
        assert at in shown
        assert shown[0] == first


def test_a_log_is_told_that_a_long_request_goes_on(plan: Plan) -> None:
    told = threading.Event()

    class Watched(io.StringIO):
        def write(self, text: str) -> int:
            if "still at it: losslessness story.0" in text:
                told.set()
            return super().write(text)

    with PlainLines(Console(file=Watched(), width=200), silence_s=0.05) as lines:
        lines.run_started(plan, Path("runs/x"))
        lines.request_started(plan.gate("losslessness"), "story.0")
        assert told.wait(timeout=30)
