"""A table at the end of a run: how many of the recorded incidents are covered, and what covers the rest."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from support.cases.corpus import ELSEWHERE, LATER, load_cases

STATES = pytest.StashKey[dict[str, str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[STATES] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    report: pytest.TestReport = yield
    callspec = getattr(item, "callspec", None)
    case = callspec.params.get("case") if callspec is not None else None
    if case is not None and report.when == "call":
        item.config.stash[STATES][case.id] = report.outcome
    return report


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    states = config.stash[STATES]
    if not states:
        return
    terminalreporter.section("recorded incidents")
    terminalreporter.write_line(f"{'category':<22}{'all':>5}{'covered':>9}{'passed':>8}{'later':>7}")
    totals: Counter[str] = Counter()
    for category in dict.fromkeys(case.category for case in load_cases()):
        ran = [states[case.id] for case in load_cases() if case.category == category and case.id in states]
        count = {
            "all": len(ran),
            "covered": sum(state != "skipped" for state in ran),
            "passed": ran.count("passed"),
            "later": 0 if category in ELSEWHERE else ran.count("skipped"),
        }
        totals.update(count)
        by = f"  by {LATER[category]}" if count["later"] and category in LATER else ""
        by = f"  run by {ELSEWHERE[category]}" if category in ELSEWHERE else by
        terminalreporter.write_line(_row(category, count) + by)
    terminalreporter.write_line(_row("all", totals))


def _row(name: str, count: dict[str, int]) -> str:
    return f"{name:<22}{count['all']:>5}{count['covered']:>9}{count['passed']:>8}{count['later']:>7}"
