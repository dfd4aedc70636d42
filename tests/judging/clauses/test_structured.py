from __future__ import annotations

import pytest

from support.judged import judged, kinds, quoted

SCHEMA = {
    "type": "object",
    "required": ["name", "n"],
    "additionalProperties": False,
    "properties": {"name": {"type": "string"}, "n": {"type": "integer", "minimum": 0, "maximum": 100}},
}
STRICT = {"json": {"schema": SCHEMA}}


@pytest.mark.parametrize(
    "text", ['{"name":"a","n":7}', ' {"n":7,"name":"\\u0000"}\n', '{"name":"耳机","n":0}']
)
def test_valid_documents_pass(text: str) -> None:
    assert judged(STRICT, text) == ()


@pytest.mark.parametrize(
    ("text", "kind", "span"),
    [
        ('{"name":"a","n":NaN}', "not_finite", "NaN"),
        ('{"name":"a","n":1e999}', "not_finite", "1e999"),
        ('{"name":"a","n":7,"n":8}', "duplicate_key", '"n"'),
        ('{"name":"a","n":7,}', "not_json", "}"),
        ('{"name":"a","n":7} // ok', "trailing_text", " // ok"),
        ('Here: {"name":"a","n":7}', "leading_text", "Here: "),
        ('```json\n{"name":"a","n":7}\n```', "fenced", "```json\n"),
        ('\ufeff{"name":"a","n":7}', "byte_order_mark", "\ufeff"),
        ('{"name":"\\ud800","n":7}', "lone_surrogate", '"\\ud800"'),
        ('{"name":"a","n":true}', "wrong_type", "true"),
        ('{"name":"a","n":7.5}', "wrong_type", "7.5"),
        ('{"name":"a"}', "missing_key", '{"name":"a"}'),
        ('{"name":"a","n":7,"x":1}', "extra_key", "1"),
        ('{"name":"a","n":101}', "schema", "101"),
        ('[{"name":"a","n":7}]', "top_level_type", '[{"name":"a","n":7}]'),
        ("", "empty", ""),
    ],
)
def test_each_breach_has_its_kind_and_its_place(text: str, kind: str, span: str) -> None:
    violations = [violation for violation in judged(STRICT, text) if violation.kind == kind]
    assert violations, kinds(STRICT, text)
    assert quoted(violations[0], text) == span


def test_all_breaches_are_listed_with_their_places() -> None:
    text = '{"정": 1, "정": 2, "b": [NaN, 12345678901234567890, {"c": "\\udfff"}]}'
    violations = judged({"json": {}}, text)
    assert [violation.kind for violation in violations] == [
        "duplicate_key", "not_finite", "big_integer", "lone_surrogate",
    ]  # fmt: skip
    assert [quoted(violation, text) for violation in violations] == [
        '"정"', "NaN", "12345678901234567890", '"\\udfff"',
    ]  # fmt: skip


def test_each_tolerance_is_declared() -> None:
    text = '{"a": 1, "a": 12345678901234567890, "b": "\\ud800"}'
    declared = {"duplicate_keys": "allowed", "big_integers": "allowed", "lone_surrogates": "allowed"}
    assert judged({"json": declared}, text) == ()
    assert kinds({"json": {"whitespace_around": "refused"}}, "1\n") == ["whitespace_around"]


def test_whole_floats_are_integers_only_where_the_standard_is_kept() -> None:
    text = '{"name":"a","n":7.0}'
    assert judged(STRICT, text) == ()
    assert kinds({"json": {"schema": SCHEMA, "integral_floats": "refused"}}, text) == ["wrong_type"]


def test_values_are_compared_type_by_type() -> None:
    clause = {"json": {"value": {"a": [1, True, None], "b": "x"}}}
    assert judged(clause, '{"b":"x","a":[1,true,null]}') == ()
    for text in ('{"b":"x","a":[1.0,true,null]}', '{"b":"x","a":[1,1,null]}', '{"b":"x","a":[1,true,0]}'):
        assert kinds(clause, text) == ["value_mismatch"]
    assert judged({"json": {"value": 1, "numbers": "by_value"}}, "1.0") == ()
    assert kinds({"json": {"value": 1, "numbers": "by_value"}}, "true") == ["value_mismatch"]
    assert kinds({"json": {"value": None}}, "0") == ["value_mismatch"]


def test_every_differing_place_is_a_breach_of_its_own() -> None:
    text = '{"a": 1, "c": [1, 2]}'
    violations = judged({"json": {"value": {"a": 2, "b": 0, "c": [1, 3]}}}, text)
    assert [quoted(violation, text) for violation in violations] == [text, "1", "2"]


def test_keys_of_the_top_level_object() -> None:
    clause = {"json": {"keys": ["name", "age"]}}
    assert judged(clause, '{"age": 1, "name": 2}') == ()
    assert kinds(clause, '{"Name": 1}') == ["missing_key", "missing_key", "extra_key"]
    assert kinds(clause, "[]") == ["top_level_type"]


def test_patterns_in_schemas_are_linear() -> None:
    schema = {"type": "string", "pattern": "^(a+)+$"}
    assert kinds({"json": {"schema": schema}}, '"' + "a" * 50_000 + '!"') == ["schema"]


def test_unique_items_follow_the_standard_and_stay_linear() -> None:
    clause = {"json": {"schema": {"uniqueItems": True}}}
    assert judged(clause, '[1, true, "1", {"a": 1}, {"b": 1}]') == ()
    assert kinds(clause, '[1, 1.0, {"a": 1, "b": 2}, {"b": 2, "a": 1}]') == ["schema", "schema"]


def test_json_can_be_taken_out_of_the_only_block() -> None:
    clause = {"json": {"source": "fenced_block", "value": {"a": 1}}}
    text = 'Here:\n```json\n{"a": 2}\n```\n'
    violation = judged(clause, text)[0]
    assert quoted(violation, text) == "2"
    assert kinds(clause, '{"a": 1}') == ["no_single_block"]


@pytest.mark.parametrize(
    "text", ["[" * 10_000, '{"a":' * 10_000, "[" + "1," * 60_000 + "1]", "1" * 2_000_000]
)
def test_hostile_documents_are_refused_unparsed(text: str) -> None:
    assert kinds({"json": {}}, text)[0] in ("too_deep", "too_large")


def test_huge_integers_break_nothing() -> None:
    assert kinds({"json": {"value": 1}}, "9" * 5000) == ["huge_integer", "value_mismatch"]
    assert kinds({"json": {"schema": {"multipleOf": 0.5}}}, "9" * 400) == ["big_integer", "schema_not_judged"]


def test_tables_have_a_header_and_even_rows() -> None:
    clause = {"csv": {"header": ["a", "b"], "rows": {"min": 1, "max": 2}}}
    assert judged(clause, 'a,b\n"1,\n2",3\n') == ()
    assert kinds(clause, "b,a\n1,2,3\n") == ["header", "columns"]
    assert kinds(clause, "a,b\n" + "1,2\n" * 3) == ["rows"]
    assert kinds(clause, 'a,b\n"1') == ["not_csv"]
    assert kinds({"csv": {"columns": 2, "delimiter": ";"}}, "a;b\nc\n") == ["columns"]
    assert kinds({"csv": {}}, "") == ["empty"]
