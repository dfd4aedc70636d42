"""`pytest --armgate-run RUN`: the verdicts of a finished run as test items.

Loaded by pytest wherever Armgate is installed, so it imports nothing of Armgate's until the option is given.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from armgate.model.outcome import Verdict

OPTION = "--armgate-run"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("armgate")
    group.addoption(OPTION, metavar="RUN", action="append", default=[], help="show a run's verdicts as items")


def pytest_collection(session: pytest.Session) -> None:
    """A run is collected beside whatever else was asked for; given alone, it is all there is."""
    if session.config.getoption(OPTION) and not session.config.option.file_or_dir:
        session.config.args[:] = []


def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    for folder in session.config.getoption(OPTION):
        run = RunCollector.from_parent(session, name=Path(folder).name, path=Path(folder).resolve())
        items.extend(run.collect())


class RunCollector(pytest.Collector):
    """One run's folder."""

    def collect(self) -> Iterator[VerdictItem]:
        from armgate.campaign.derived import boots_begun, read_plan, recorded_verdicts  # noqa: PLC0415
        from armgate.errors import ArmgateError  # noqa: PLC0415
        from armgate.reporting.run_folder import RunFolder  # noqa: PLC0415

        run = RunFolder(self.path)
        try:
            plan = read_plan(run).plan
            for boot in boots_begun(run, plan):
                verdicts = recorded_verdicts(run.boot(boot.arm, boot.boot))
                for gate in plan.gate_ids:
                    if gate in verdicts:
                        name = f"{boot.arm}/{boot.boot:02d}/{gate}"
                        yield VerdictItem.from_parent(self, name=name, verdict=verdicts[gate])
        except ArmgateError as error:
            raise pytest.UsageError(str(error)) from None


class VerdictItem(pytest.Item):
    """One gate of one boot. A void or errored verdict is an error of the item, never a pass or a skip."""

    def __init__(self, *, verdict: Verdict, **given: Any) -> None:
        super().__init__(**given)
        self.verdict = verdict
        if verdict.outcome == "failed" and not verdict.required:
            self.add_marker(pytest.mark.xfail(reason="advisory: decides nothing", raises=GateFailed))

    def setup(self) -> None:
        verdict = self.verdict
        if verdict.outcome == "skipped":
            pytest.skip(f"because of {verdict.because_of}: {verdict.message or 'not executed'}")
        if verdict.outcome in ("void", "errored"):
            raise NoVerdict(f"{verdict.outcome}: {verdict.cause}: {verdict.message}")

    def runtest(self) -> None:
        if self.verdict.outcome == "failed":
            raise GateFailed(self.verdict.message or self.verdict.cause or "failed")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:
        if not isinstance(excinfo.value, GateFailed | NoVerdict):
            return str(super().repr_failure(excinfo, style))
        return ascii_lines([str(excinfo.value), *_violations(self.verdict)])

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.name


class GateFailed(Exception):  # noqa: N818 - the verdict's own word
    """The evidence is sound and the gate's requirement is not met."""


class NoVerdict(Exception):  # noqa: N818
    """The evidence carries no verdict, or we could not judge it."""


def _violations(verdict: Verdict) -> Iterator[str]:
    for place, violations in [
        ("gate", verdict.violations),
        *((s.sample, s.violations) for s in verdict.samples),
    ]:
        for violation in violations:
            yield f"{place}: {violation.clause}: {violation.message}"


def ascii_lines(lines: list[str]) -> str:
    """Quotes of a model's words cannot steer a terminal: every character that is not plain is escaped."""
    return "\n".join(line.encode("unicode_escape").decode("ascii") for line in lines)
