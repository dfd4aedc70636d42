from __future__ import annotations

from typing import Any

from armgate.judging.subject import Subject
from armgate.model.response import Response, ToolCall, Usage
from support.judged import judged, kinds

ONE = {"tool_calls": {"calls": [{"name": "lookup", "arguments": {"sku": "NV-42"}}]}}


def _called(*calls: tuple[str | None, str | None], tools: list[Any] | None = None, **fields: Any) -> Subject:
    made = tuple(
        ToolCall(index=number, id=f"call_{number}", name=name, arguments=arguments)
        for number, (name, arguments) in enumerate(calls)
    )
    fields = {"content": None, "finish_reason": "tool_calls", **fields}
    cap = fields.pop("cap", None)
    return Subject(
        Response(tool_calls=made, **fields), request={"tools": tools} if tools else None, cap_tokens=cap
    )


def test_the_expected_call_passes() -> None:
    assert judged(ONE, _called(("lookup", '{"sku": "NV-42"}'))) == ()
    offered = [{"type": "function", "function": {"name": "lookup"}}]
    assert judged(ONE, _called(("lookup", '{"sku": "NV-42"}'), tools=offered)) == ()


def test_each_way_to_miss_a_call_has_its_kind() -> None:
    assert kinds(ONE, Response(content="17", finish_reason="stop")) == ["no_tool_call"]
    assert kinds(ONE, _called(("lookup", '{"sku": "NV42"}'))) == ["arguments_value"]
    assert kinds(ONE, _called(("look", '{"sku": "NV-42"}'))) == ["wrong_tool"]
    assert kinds(ONE, _called(("lookup", '{"sku": "NV-'))) == ["arguments_not_json"]
    assert kinds(ONE, _called(("lookup", '{"sku": 1, "sku": "NV-42"}'))) == ["arguments_not_json"]
    assert kinds(ONE, _called(("lookup", "[]"))) == ["arguments_not_an_object", "arguments_value"]
    assert kinds(ONE, _called(("lookup", None))) == ["no_arguments"]
    assert kinds({"tool_calls": {"count": 1}}, _called((None, "{}"))) == ["no_name"]
    assert kinds(ONE, _called(("lookup", '{"sku": "NV-42"}'), tools=["order"])) == ["unknown_tool"]


def test_arguments_cut_at_the_cap_are_named_as_such() -> None:
    cut = _called(("lookup", '{"sku": "NV-'), usage=Usage(completion_tokens=24), cap=24)
    assert kinds(ONE, cut) == ["tool_call_truncated"]


def test_spans_point_into_the_joined_arguments() -> None:
    subject = _called(("lookup", '{"sku": "NV-42"}'), ("lookup", '{"sku": "정"}'))
    clause = {"tool_calls": {"calls": [ONE["tool_calls"]["calls"][0]] * 2}}
    violation = judged(clause, subject)[0]
    joined = (subject.response.channel("tool_calls") or "").encode()
    assert violation.channel == "tool_calls"
    assert violation.span is not None
    assert joined[slice(*violation.span)].decode() == '"정"'


def test_order_matters_unless_declared() -> None:
    calls = [{"name": "a"}, {"name": "b"}]
    subject = _called(("b", "{}"), ("a", "{}"))
    assert kinds({"tool_calls": {"calls": calls}}, subject) == ["wrong_tool", "wrong_tool"]
    assert judged({"tool_calls": {"calls": calls, "order": "any"}}, subject) == ()


def test_calls_need_ids_of_their_own() -> None:
    call = ToolCall(index=0, id="x", name="a", arguments="{}")
    twice = Subject(Response(tool_calls=(call, call)))
    assert kinds({"tool_calls": {"count": 2}}, twice) == ["id_twice"]
    nameless = Subject(Response(tool_calls=(call.model_copy(update={"id": None}),)))
    assert kinds({"tool_calls": {"count": 1}}, nameless) == ["no_id"]


def test_a_call_left_in_text_is_reported_and_never_parsed_out() -> None:
    markup = "<tool_call>\n<function=lookup>\n</function>\n</tool_call>"
    hidden = Response(content=None, reasoning=f"I look it up.\n{markup}", finish_reason="stop")
    assert set(kinds(ONE, hidden)) == {"no_tool_call", "tool_call_in_reasoning"}


def test_none_expected_and_schemas() -> None:
    assert judged({"tool_calls": {"count": 0}}, Response(content="Paris")) == ()
    assert kinds({"tool_calls": {"count": 0}}, _called(("a", "{}"))) == ["unexpected_tool_call"]
    schema = {"type": "object", "required": ["sku"]}
    clause = {"tool_calls": {"calls": [{"name": "a", "schema": schema}], "text_beside": "refused"}}
    assert kinds(clause, _called(("a", "{}"), content="Wait.")) == ["arguments_schema", "text_beside"]


TURNS = [
    {"role": "user", "content": "How many?"},
    {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "lookup", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c1", "content": '{"items": [{"a/b": 17}]}'},
]


def _answered(content: str | None, messages: list[dict[str, Any]], **fields: Any) -> Subject:
    return Subject(Response(content=content, **fields), request={"messages": messages})


def test_the_answer_comes_from_the_result() -> None:
    clause = {"tool_round_trip": {"answer_from": "/items/0/a~1b"}}
    assert judged(clause, _answered("17", TURNS)) == ()
    assert kinds(clause, _answered("18", TURNS)) == ["not_from_result"]
    assert kinds(clause, _answered(None, TURNS)) == ["null_channel"]
    assert (
        judged(
            {"tool_round_trip": {"answer_from": "/items/0/a~1b", "how": "contains"}},
            _answered("It is 17.", TURNS),
        )
        == ()
    )
    assert kinds({"tool_round_trip": {"answer_from": "/nothing"}}, _answered("17", TURNS)) == ["no_result"]


def test_results_and_calls_belong_together() -> None:
    clause: dict[str, Any] = {"tool_round_trip": {}}
    assert kinds(clause, _answered("17", TURNS[:2])) == ["no_result", "no_result"]
    other = [*TURNS[:2], {**TURNS[2], "tool_call_id": "c2"}]
    assert kinds(clause, _answered("17", other)) == ["no_result", "unasked_result"]
    again = ToolCall(index=0, id="c3", name="lookup", arguments="{}")
    assert kinds(clause, _answered(None, TURNS, tool_calls=(again,))) == ["further_call"]
