from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from armgate.model.clauses.json_schema import check_schema, validator_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.text("ab", max_size=3),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text("ab", max_size=2), below, max_size=4),
    max_leaves=8,
)
SCHEMAS: list[Any] = [
    {"uniqueItems": True},
    {"properties": {"a": {"type": "string"}}, "additionalProperties": False},
    {"patternProperties": {"^a": {"type": "integer"}}, "additionalProperties": {"type": "null"}},
    {"items": {"pattern": "a+b?$"}},
    {"pattern": "^(a|b)*$"},
    {"type": "array", "items": {"type": "integer"}, "minItems": 1},
    {
        "$defs": {"node": {"type": "object", "additionalProperties": {"$ref": "#/$defs/node"}}},
        "$ref": "#/$defs/node",
    },
    {"items": {"type": "string", "minLength": 2}},
    {"items": {"type": "object"}, "prefixItems": [{"type": "null"}]},
    {"items": {"type": "boolean"}},
    {"items": False},
    True,
    False,
]


@pytest.mark.parametrize("schema", SCHEMAS)
@given(instance=JSON)
def test_the_hardened_validator_agrees_with_the_stock_one(schema: Any, instance: Any) -> None:
    assert validator_of(schema).is_valid(instance) == Draft202012Validator(schema).is_valid(instance)


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ({"type": "objekt"}, "not a JSON Schema"),
        ({"properties": {"a": {"$ref": "https://example.org/x"}}}, "only to itself"),
        ({"pattern": "(?=a)"}, "RE2"),
        ({"patternProperties": {"(?!a)": {}}}, "RE2"),
        ({"patternProperties": {"a": {}}, "unevaluatedProperties": False}, "not supported"),
    ],
)
def test_schemas_that_cannot_be_judged_safely_are_refused(schema: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        check_schema(schema)


def test_integers_can_be_asked_for_as_written() -> None:
    assert validator_of({"type": "integer"}).is_valid(7.0)
    assert not validator_of({"type": "integer"}, integral_floats=False).is_valid(7.0)
    assert validator_of({"type": "integer"}, integral_floats=False).is_valid(7)
