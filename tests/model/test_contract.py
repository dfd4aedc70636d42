from __future__ import annotations

from pathlib import Path

import pytest

from armgate.loading.contracts import load_contract
from armgate.model.contract import CLAUSE_NAMES, Clause, Contract
from support.judged import contract_of

SHIPPED = sorted((Path(__file__).resolve().parents[2] / "contracts").glob("*.yaml"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_contract_survives_being_written_into_a_plan(path: Path) -> None:
    contract = load_contract(path)
    written = contract.model_dump_json(by_alias=True)
    again = Contract.model_validate_json(written, strict=True)
    assert again == contract
    assert again.model_dump_json(by_alias=True) == written


def test_options_left_out_stay_out_and_null_stays_null() -> None:
    contract = contract_of({"json": {"value": None}}, {"no_fence": {}}, {"length": {"bytes": {"max": 3}}})
    again = Contract.model_validate_json(contract.model_dump_json(by_alias=True), strict=True)
    assert [clause.tolerances for clause in again.clauses] == [{"value": None}, {}, {"bytes": {"max": 3}}]
    assert again.clauses[0].json_ is not None
    assert again.clauses[0].json_.has_value
    assert not contract_of({"json": {}}).clauses[0].options.has_value  # type: ignore[attr-defined]


def test_the_published_schema_knows_every_clause() -> None:
    schema = Contract.model_json_schema(by_alias=True)
    assert set(schema["$defs"]["Clause"]["properties"]) == set(CLAUSE_NAMES)
    assert set(CLAUSE_NAMES) == {(field.alias or name) for name, field in Clause.model_fields.items()}
