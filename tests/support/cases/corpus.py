"""The recorded incidents: read, typed, and marked with what the product cannot judge yet."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

DATA = Path(__file__).resolve().parents[2] / "data" / "cases" / "wire-and-format.yaml"

LATER = {
    "10-harness": "the attempt ledger, resume and comparison of arms",
}
"""By category: the work that will cover what is not covered yet."""

ELSEWHERE = {"9-code-graders": "tests/execution/test_grader_incidents.py"}
"""By category: the test module that runs it, since it needs sandboxes and not recorded bytes."""


class NotCovered(Exception):  # noqa: N818 - a state of the table, not an error
    """The product has no subject for this input yet."""


@dataclasses.dataclass(frozen=True)
class Case:
    id: str
    category: str
    kind: str
    input: dict[str, Any]
    expected: dict[str, Any]


def load_cases() -> list[Case]:
    with DATA.open(encoding="utf-8") as file:
        entries = YAML(typ="safe").load(file)
    return [Case(e["id"], e["category"], e["input_kind"], e["input"], e["expected"]) for e in entries]
