"""The incidents' phrases for contracts, resolved through the table beside the tests."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from armgate.model.contract import Contract

CASES = Path(__file__).resolve().parents[2] / "cases"
Key = tuple[str | None, str | None, bool]


@lru_cache
def table() -> dict[Key, Contract]:
    """Phrase, policy and the probe's declaration -> contract."""
    with (CASES / "contracts.yaml").open(encoding="utf-8") as file:
        entries = YAML(typ="safe").load(file)
    return {
        (e["phrase"], e.get("policy"), e.get("probe_allows_tag_words", False)): Contract.model_validate(
            {
                "schema": "armgate/contract/v1",
                "id": "case",
                "says": str(e["phrase"]),
                "clauses": e["clauses"],
            },
            strict=False,
        )
        for e in entries
    }


def contract_for(given: Mapping[str, Any], policy: str | None = None) -> Contract:
    """The contract of a case or of one of its variants. An unknown phrase is an error of the table."""
    return table()[given.get("contract"), policy, given.get("probe_allows_tag_words", False)]


@lru_cache
def reasons() -> dict[str, list[str]]:
    with (CASES / "reasons.yaml").open(encoding="utf-8") as file:
        return dict(YAML(typ="safe").load(file))
