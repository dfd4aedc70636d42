"""Clauses about tool calls, and about the answer that follows their results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from armgate.judging.clauses.breach import Breach, at
from armgate.judging.clauses.structured import json_type, schema_breaches, value_breaches
from armgate.judging.json_text import read_json
from armgate.judging.subject import Subject
from armgate.judging.text import Text
from armgate.model.base import Json
from armgate.model.clauses.markers import TOOL_MARKUP
from armgate.model.clauses.response import ToolCalls, ToolRoundTrip
from armgate.model.clauses.structured import CallShape
from armgate.model.response import ToolCall

CHANNEL = "tool_calls"


def tool_calls(options: ToolCalls, subject: Subject) -> Iterator[Breach]:
    calls = subject.response.tool_calls
    texts = _argument_texts(calls)
    expected = options.expected
    if not expected.holds(len(calls)):
        if not calls:
            yield Breach("no_tool_call", f"no tool call, expected {expected}", None, CHANNEL)
        else:
            kind = "unexpected_tool_call" if expected.max == 0 else "tool_call_count"
            names = ", ".join(str(call.name) for call in calls[:8])
            span = (texts[0].all[0], texts[-1].all[1])
            yield Breach(kind, f"{len(calls)} tool calls ({names}), expected {expected}", span, CHANNEL)
        yield from _written_as_text(subject)
    for call, text in zip(calls, texts, strict=True):
        yield from _well_formed(call, text, subject)
    yield from _identified(calls, texts)
    yield from _shapes(options, calls, texts)
    content = subject.text("content")
    if options.text_beside == "refused" and calls and content is not None and content.value.strip():
        yield Breach("text_beside", "text beside the tool call", content.all)


def _argument_texts(calls: Sequence[ToolCall]) -> list[Text]:
    """Each call's arguments as a text with its place in the channel, which joins them."""
    parts = [call.arguments or "" for call in calls]
    starts = accumulate((len(part.encode("utf-8", "surrogatepass")) for part in parts), initial=0)
    return [Text(CHANNEL, part, start) for part, start in zip(parts, starts, strict=False)]


def _written_as_text(subject: Subject) -> Iterator[Breach]:
    """Markup of a tool call that the server's parser left in a text channel."""
    for channel in ("content", "reasoning"):
        text = subject.text(channel)
        if text is None:
            continue
        for markup in TOOL_MARKUP:
            place = text.value.find(markup)
            if place >= 0:
                message = f"{markup} in the {channel}: a call that the server did not read as one"
                yield at(text, f"tool_call_in_{channel}", message, place, place + len(markup))


def _well_formed(call: ToolCall, text: Text, subject: Subject) -> Iterator[Breach]:
    known = subject.tool_names
    if not call.name:
        yield Breach("no_name", "a tool call without a name", text.all, CHANNEL)
    elif known is not None and call.name not in known:
        message = f"calls {call.name!r}, offered were {', '.join(sorted(known))}"
        yield Breach("unknown_tool", message, text.all, CHANNEL)
    if call.arguments is None:
        yield Breach("no_arguments", f"{call.name} has no arguments", text.all, CHANNEL)
        return
    cut = subject.response.effective_stop(subject.cap_tokens) == "length"
    for flaw in (*text.json.flaws, *text.json.doubts):
        kind = "tool_call_truncated" if cut and text.json.flaws else "arguments_not_json"
        says = "cut at the cap: " if kind == "tool_call_truncated" else ""
        yield at(text, kind, f"arguments of {call.name}: {says}{flaw.message}", flaw.start, flaw.end)
    if text.json.readable and not isinstance(text.json.value, dict):
        message = f"arguments of {call.name} are {json_type(text.json.value)}, expected an object"
        yield Breach("arguments_not_an_object", message, text.all, CHANNEL)


def _identified(calls: Sequence[ToolCall], texts: Sequence[Text]) -> Iterator[Breach]:
    """Each call has an id of its own: without one no result can be sent back."""
    seen: set[str] = set()
    for call, text in zip(calls, texts, strict=True):
        if not call.id:
            yield Breach("no_id", f"the call of {call.name} has no id", text.all, CHANNEL)
        elif call.id in seen:
            yield Breach("id_twice", f"two calls have the id {call.id!r}", text.all, CHANNEL)
        seen.add(call.id or "")


def _shapes(options: ToolCalls, calls: Sequence[ToolCall], texts: Sequence[Text]) -> Iterator[Breach]:
    if options.order == "as_given":
        for shape, call, text in zip(options.calls, calls, texts, strict=False):
            yield from _shape(shape, call, text)
        return
    left = list(zip(calls, texts, strict=True))
    for shape in options.calls:
        best = min(left, key=lambda pair: _distance(shape, *pair), default=None)
        if best is not None:
            left.remove(best)
            yield from _shape(shape, *best)


def _distance(shape: CallShape, call: ToolCall, text: Text) -> tuple[bool, int]:
    return call.name != shape.name, sum(1 for _ in _shape(shape, call, text))


def _shape(shape: CallShape, call: ToolCall, text: Text) -> Iterator[Breach]:
    if call.name != shape.name:
        yield Breach("wrong_tool", f"calls {call.name!r}, expected {shape.name!r}", text.all, CHANNEL)
    if call.arguments is None or not text.json.readable:
        return
    if shape.validator is not None:
        for breach in schema_breaches(shape.validator, text):
            yield breach._replace(
                kind="arguments_schema", message=f"arguments of {call.name}: {breach.message}"
            )
    if shape.arguments is not None:
        for breach in value_breaches(text, shape.arguments, typed=True):
            yield breach._replace(
                kind="arguments_value", message=f"arguments of {call.name}: {breach.message}"
            )


def tool_round_trip(options: ToolRoundTrip, subject: Subject) -> Iterator[Breach]:
    asked, results = _turns(subject.messages)
    if not results:
        yield Breach("no_result", "the request holds no tool result", None, None)
    for call_id in asked - results.keys():
        yield Breach("no_result", f"the request has no result for the call {call_id!r}", None, None)
    for call_id in results.keys() - asked:
        yield Breach(
            "unasked_result", f"the request has a result for {call_id!r}, which was not called", None, None
        )
    if options.further_calls == "refused" and subject.response.tool_calls:
        names = ", ".join(str(call.name) for call in subject.response.tool_calls[:8])
        yield Breach("further_call", f"calls again ({names}) instead of answering", None, CHANNEL)
    if options.answer_from is not None and results:
        yield from _answer(options, list(results.values())[-1], subject)


def _turns(messages: Sequence[Mapping[str, Json]]) -> tuple[set[str], dict[str, str]]:
    """Ids of all calls in the request's messages, and the result texts by the id that they answer."""
    asked: set[str] = set()
    results: dict[str, str] = {}
    for message in messages:
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list | tuple) else ():
            if isinstance(call, Mapping) and isinstance(call.get("id"), str):
                asked.add(call["id"])
        answered, content = message.get("tool_call_id"), message.get("content")
        if message.get("role") == "tool" and isinstance(answered, str) and isinstance(content, str):
            results[answered] = content
    return asked, results


def _answer(options: ToolRoundTrip, result: str, subject: Subject) -> Iterator[Breach]:
    assert options.answer_from is not None
    found, value = _pointed(read_json(result).value, options.answer_from)
    if not found:
        yield Breach("no_result", f"the tool result has nothing at {options.answer_from!r}", None, None)
        return
    wanted = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = subject.text("content")
    if text is None:
        yield Breach("null_channel", "content is null", None)
    elif text.value != wanted if options.how == "exact" else wanted not in text.value:
        message = f"the answer {'is not' if options.how == 'exact' else 'lacks'} the result's {wanted!r}"
        yield Breach("not_from_result", message, text.all)


def _pointed(value: Json, pointer: str) -> tuple[bool, Json]:
    """The value at a JSON pointer (RFC 6901), and whether there is one."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and key.isascii() and int(key) < len(value):
            value = value[int(key)]
        else:
            return False, None
    return True, value
