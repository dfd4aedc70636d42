"""A finished run read back for those who compare: its plan, and quality records from recorded verdicts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from armgate.campaign.comparison import comparison
from armgate.campaign.derived import boots_begun, quality_records, read_plan, recorded_verdicts
from armgate.errors import RecordError
from armgate.model.comparison import Comparison
from armgate.model.plan import Plan
from armgate.model.quality import QualityRecord
from armgate.reporting.run_folder import RunFolder


@dataclasses.dataclass(frozen=True)
class FinishedRun:
    folder: RunFolder
    plan: Plan
    records: Mapping[str, QualityRecord]

    def comparison(self) -> Comparison:
        made = comparison(self.plan, self.records)
        if made is None:
            raise RecordError(
                f"{self.folder.root}: the reference arm {self.plan.reference!r} has no record yet"
            )
        return made


def read_run(root: Path) -> FinishedRun:
    """Everything from the run's folder; RecordError where it is none."""
    folder = RunFolder(root)
    plan_file = read_plan(folder)
    boots = boots_begun(folder, plan_file.plan)
    verdicts = {(b.arm, b.boot): recorded_verdicts(folder.boot(b.arm, b.boot)) for b in boots}
    records = quality_records(folder, plan_file.plan, plan_file.digest, verdicts)
    return FinishedRun(folder, plan_file.plan, records)
