"""`armgate schema [NAME]`: the published JSON Schemas of declared and recorded files."""

from __future__ import annotations

from typing import Annotated

import typer
from pydantic import BaseModel

from armgate.cli.output import console, print_json
from armgate.errors import UsageError
from armgate.model.arms import Campaign
from armgate.model.boots import BootRecord
from armgate.model.calibration import Calibration
from armgate.model.comparison import Comparison
from armgate.model.contract import Contract
from armgate.model.dataset import Dataset
from armgate.model.gates import Ladder
from armgate.model.haystack import HaystackFile
from armgate.model.outcome import Verdict
from armgate.model.plan import PlanFile
from armgate.model.publication import Publication
from armgate.model.quality import QualityRecord
from armgate.model.regression import Regression
from armgate.model.task import Task

SCHEMAS: dict[str, type[BaseModel]] = {
    "campaign": Campaign,
    "ladder": Ladder,
    "contract": Contract,
    "task": Task,
    "haystack": HaystackFile,
    "plan": PlanFile,
    "boot": BootRecord,
    "verdict": Verdict,
    "quality": QualityRecord,
    "comparison": Comparison,
    "regression": Regression,
    "dataset": Dataset,
    "publication": Publication,
    "calibration": Calibration,
}


def schema_of(name: str) -> dict[str, object]:
    """The JSON Schema of one kind of file, as published under `src/armgate/schemas/`."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **SCHEMAS[name].model_json_schema(by_alias=True),
    }


def schema(
    name: Annotated[str | None, typer.Argument(help="One of the kinds; without it they are listed.")] = None,
) -> None:
    """Print a JSON Schema, or the names there are."""
    if name is None:
        for known in SCHEMAS:
            console().print(known)
        return
    if name not in SCHEMAS:
        raise UsageError(f"no schema {name!r}; there are: {', '.join(SCHEMAS)}")
    print_json(schema_of(name))
