from __future__ import annotations

import json
import time
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armgate.model.exchange import CHAT, COMPLETIONS, Exchange, Fate, Frame
from armgate.model.reading import read_response
from armgate.model.response import Channel, Response


def exchange(*reads: bytes, request: dict[str, Any] | None = None, **fields: Any) -> Exchange:
    frames = tuple(Frame(round(0.1 * n, 7), data) for n, data in enumerate(reads, start=1))
    known: dict[str, Any] = {"status": 200, "headers": {}, "fate": Fate.COMPLETE, "endpoint": CHAT}
    return Exchange(request=request or {}, frames=frames, **{**known, **fields})


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> bytes:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return (
        b"data: "
        + json.dumps({"object": "chat.completion.chunk", "choices": choices, **more}).encode()
        + b"\n\n"
    )


def whole(message: dict[str, Any], finish: str | None = "stop", **more: Any) -> bytes:
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return json.dumps({"object": "chat.completion", "choices": [choice], **more}).encode()


DONE = b"data: [DONE]\n\n"
ROLE = chunk({"role": "assistant", "content": ""})


def test_a_stream_is_joined_and_timed_by_its_text() -> None:
    response = read_response(
        exchange(
            ROLE,
            b": ping\n\n",
            chunk({"content": ""}),
            chunk({"reasoning": "think"}),
            chunk({"content": "7"}),
            chunk({"content": "03"}) + chunk({}, "stop"),
            chunk(usage={"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}),
            DONE,
        )
    )
    assert (response.content, response.reasoning, response.finish_reason) == ("703", "think", "stop")
    assert response.done_seen
    assert response.flags == ()
    timings = response.timings
    assert (timings.ttft_s, timings.ttft_channel) == (0.4, Channel.REASONING)
    assert (timings.first_content_s, timings.last_text_s, timings.finish_s) == (0.5, 0.6, 0.6)
    assert (timings.wall_s, timings.body_s) == (0.6, 0.8), "usage and [DONE] are not the answer"
    assert [(d.at_s, d.channel, d.chars) for d in response.deltas] == [
        (0.4, "reasoning", 5), (0.5, "content", 1), (0.6, "content", 2),
    ]  # fmt: skip


def test_null_is_not_the_empty_text() -> None:
    assert read_response(exchange(whole({"content": None}))).content is None
    assert read_response(exchange(whole({"content": ""}))).content == ""
    assert read_response(exchange(chunk({"content": None}), chunk({}, "stop"))).content is None
    assert read_response(exchange(ROLE, chunk({}, "stop"))).content == ""


def test_one_text_under_both_reasoning_names_is_one_text() -> None:
    both = {"reasoning": "a", "reasoning_content": "a"}
    response = read_response(exchange(chunk(both), chunk({"reasoning": "b", "reasoning_content": None})))
    assert response.reasoning == "ab"
    assert response.reasoning_fields == ("reasoning", "reasoning_content")
    assert "reasoning_fields_differ" not in response.flags


def test_content_and_reasoning_in_one_delta() -> None:
    response = read_response(exchange(chunk({"reasoning": "r", "content": "c"})))
    assert (response.reasoning, response.content) == ("r", "c")
    assert [delta.channel for delta in response.deltas] == [Channel.REASONING, Channel.CONTENT]


def test_the_last_usage_counts_and_none_is_added_up() -> None:
    reads = [
        chunk({"content": str(n)}, usage={"prompt_tokens": 9, "completion_tokens": n}) for n in (1, 2, 3)
    ]
    usage = read_response(exchange(*reads, chunk({}, "stop"), chunk(usage=None))).usage
    assert usage is not None
    assert (usage.completion_tokens, usage.prompt_tokens, usage.reports) == (3, 9, 3)


@pytest.mark.parametrize("choices", [{"choices": []}, {"choices": None}, {}])
def test_a_usage_chunk_may_lack_choices(choices: dict[str, Any]) -> None:
    usage = {"usage": {"prompt_tokens": 1, "completion_tokens": 3}}
    reads = [
        chunk({"content": "703"}, "stop"),
        b"data: " + json.dumps({**choices, **usage}).encode() + b"\n\n",
    ]
    response = read_response(exchange(*reads, DONE))
    assert response.usage is not None
    assert response.usage.completion_tokens == 3
    assert response.timings.last_text_s == 0.1
    assert response.unreadable == ()


def test_tool_calls_are_joined_by_index_and_time_the_first_text() -> None:
    first = {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}
    other = {"index": 1, "id": "b", "function": {"name": "g", "arguments": "{}"}}
    pieces = [
        [first], [{"index": 0, "function": {"arguments": '{"x"'}}, other],
        [{"index": 0, "function": {"arguments": ": 1}"}}],
    ]  # fmt: skip
    response = read_response(
        exchange(ROLE, *(chunk({"tool_calls": p}) for p in pieces), chunk({}, "tool_calls"))
    )
    assert [(c.id, c.name, c.arguments) for c in response.tool_calls] == [
        ("a", "f", '{"x": 1}'),
        ("b", "g", "{}"),
    ]
    assert (response.timings.ttft_s, response.timings.ttft_channel) == (0.2, Channel.TOOL_CALLS)
    assert response.channel("tool_calls") == '{"x": 1}{}'


def test_parallel_calls_that_share_an_index_stay_apart() -> None:
    calls = [{"index": 0, "id": i, "function": {"name": "f", "arguments": "{}"}} for i in ("a", "b")]
    response = read_response(exchange(*(chunk({"tool_calls": [call]}) for call in calls)))
    assert [call.id for call in response.tool_calls] == ["a", "b"]
    assert "tool_index_reused" in response.flags


def test_arguments_that_are_no_text_are_not_made_into_text() -> None:
    call = {"id": "a", "function": {"name": "f", "arguments": {"x": 1}}}
    response = read_response(exchange(whole({"content": None, "tool_calls": [call]})))
    assert response.tool_calls[0].arguments is None
    assert "arguments_not_text" in response.flags


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (b'data: {"error":{"message":"boom","type":"T","code":500}}\n\n', "boom"),
        (b'data: {"error":"boom"}\n\n', "boom"),
        (b'data: {"object":"error","message":"boom","code":400}\n\n', "boom"),
        (b'event: error\ndata: {"message":"boom"}\n\n', "boom"),
        (b'error: {"code":500,"message":"boom"}\n\n', "boom"),
        (b'data: {"choices":[{"index":0,"delta":{},"error":{"message":"boom"}}]}\n\n', "boom"),
        (b"data: Number of choices must be greater than 0.\n\n", "Number of choices must be greater than 0."),
    ],
)
def test_an_error_in_a_200_stream_is_found(payload: bytes, message: str) -> None:
    response = read_response(exchange(chunk({"content": "70"}), payload, DONE))
    assert [error.message for error in response.errors] == [message]
    assert response.content == "70"


def test_an_error_that_is_null_is_none() -> None:
    assert read_response(exchange(whole({"content": "x"}, error=None))).errors == ()


def test_the_end_of_a_stream_may_lack_blank_line_and_sentinel() -> None:
    lean = read_response(exchange(chunk({"content": "703"}), chunk({}, "stop").rstrip(b"\n")))
    assert (lean.content, lean.finish_reason, lean.flags) == (
        "703",
        "stop",
        ("no_done_sentinel", "usage_missing"),
    )
    done = read_response(exchange(chunk({"content": "703"}, "stop"), b"data: [DONE]"))
    assert done.done_seen
    assert "no_done_sentinel" not in done.flags


def test_an_event_cut_in_the_middle_is_torn_and_no_error() -> None:
    response = read_response(
        exchange(chunk({"content": "70"}), chunk({"content": "3"})[:40], fate=Fate.DROPPED)
    )
    assert response.content == "70"
    assert (response.errors, response.unreadable) == ((), ())
    assert "torn_event" in response.flags


def test_events_that_lack_the_blank_line_between_them() -> None:
    stream = (chunk({"content": "7"}) + chunk({"content": "03"}, "stop") + DONE).replace(b"\n\n", b"\n")
    response = read_response(exchange(stream))
    assert (response.content, response.done_seen) == ("703", True)
    assert "events_without_blank_line" in response.flags


def test_an_empty_finish_reason_is_none_yet() -> None:
    response = read_response(exchange(chunk({"content": "7"}, ""), chunk({"content": "03"}, "stop"), DONE))
    assert (response.content, response.finish_reason) == ("703", "stop")


def test_plain_completions_streamed_and_whole() -> None:
    request = {"prompt": "x"}
    logprobs = {
        "tokens": ["70", "3"],
        "token_logprobs": [-0.5, -0.25],
        "top_logprobs": [None, {"3": -0.25}],
    }
    choice = {"index": 0, "text": "703", "finish_reason": "length", "logprobs": logprobs}
    body = json.dumps({"object": "text_completion", "choices": [choice]}).encode()
    for data in (body, b"data: " + body + b"\n\n" + DONE):
        response = read_response(exchange(data, request=request, endpoint=COMPLETIONS))
        assert (response.content, response.finish_reason) == ("703", "length")
        assert response.logprobs is not None
        assert [(e["token"], e["logprob"]) for e in response.logprobs] == [("70", -0.5), ("3", -0.25)]


def test_token_ids_and_logprobs_are_collected() -> None:
    def piece(text: str, ids: list[int], **more: Any) -> bytes:
        logprobs = {"content": [{"token": text, "logprob": -0.1, "bytes": None, "top_logprobs": []}]}
        choice = {"index": 0, "delta": {"content": text}, "token_ids": ids, "logprobs": logprobs}
        return b"data: " + json.dumps({"choices": [choice], **more}).encode() + b"\n\n"

    response = read_response(
        exchange(piece("", [5], prompt_token_ids=[1, 2]), piece("ab", [6, 7]), piece("c", [8]))
    )
    assert response.token_ids == (5, 6, 7, 8)
    assert response.prompt_token_ids == (1, 2)
    assert [delta.tokens for delta in response.deltas] == [3, 1]
    assert response.logprobs is not None
    assert len(response.logprobs) == 3


def test_a_body_without_times_has_no_timings() -> None:
    response = read_response(exchange(chunk({"content": "703"}, "stop"), DONE, timed=False))
    assert response.content == "703"
    assert response.timings == type(response.timings)()
    assert response.deltas == ()


def test_a_whole_body_has_only_its_wall_time() -> None:
    timings = read_response(exchange(whole({"content": "703"})[:10], whole({"content": "703"})[10:])).timings
    assert (timings.wall_s, timings.body_s) == (0.2, 0.2)
    assert (timings.ttft_s, timings.first_content_s, timings.last_text_s) == (None, None, None)


def test_bytes_that_are_not_utf8_survive_and_are_flagged() -> None:
    response = read_response(exchange(chunk({"content": "a@b"}).replace(b"@", b"\xff")))
    assert response.content == "a\udcffb"
    assert "invalid_utf8" in response.flags
    assert json.dumps(response.model_dump(mode="json"))


def test_halves_of_a_surrogate_pair_are_kept_as_sent() -> None:
    reads = [b'data: {"choices":[{"index":0,"delta":{"content":"\\ud83d"}}]}\n\n'] * 2
    assert read_response(exchange(*reads)).content == "\ud83d\ud83d"


@pytest.mark.parametrize(
    "body",
    [
        b"<html>busy</html>",
        b"[1, 2]",
        b"{",
        b"[" * 100_000,
        b'{"a":' * 200 + b"1" + b"}" * 200,
        b'{"x": NaN}',
        b"\0",
    ],
)
def test_what_is_not_the_protocol_is_noted(body: bytes) -> None:
    assert read_response(exchange(body)).unreadable
    assert read_response(exchange(b"data: " + body + b"\n\n")).unreadable


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (400, b'{"error":{"message":"no","param":"min_p"}}', "no"),
        (400, b'{"object":"error","message":"no","code":400}', "no"),
        (404, b'{"detail":"Not Found"}', "Not Found"),
        (502, b"Bad gateway", "Bad gateway"),
        (422, b'{"detail":[{"loc":["body"]}]}', '[{"loc": ["body"]}]'),
    ],
)
def test_bodies_of_http_errors(status: int, body: bytes, message: str) -> None:
    assert read_response(exchange(body, status=status)).errors[0].message == message


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.text(max_size=5)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
KEYS = st.sampled_from(
    ["choices", "delta", "message", "index", "content", "reasoning",
     "tool_calls", "function", "arguments", "name", "id", "text",
     "usage", "error", "object", "completion_tokens", "prompt_tokens_details", "finish_reason",
     "stop_reason", "logprobs", "tokens", "detail", "type", "token_logprobs",
     "token_ids", "prompt_token_ids", "thinking"]
)  # fmt: skip
PROTOCOL_JUNK = st.recursive(
    JUNK,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=30,
)


@given(PROTOCOL_JUNK, st.booleans(), st.sampled_from([200, 400, 500, None]))
def test_no_object_makes_it_raise(obj: Any, streamed: bool, status: int | None) -> None:
    body = json.dumps(obj).encode()
    data = b"data: " + body + b"\n\n" + DONE if streamed else body
    response = read_response(exchange(data, status=status))
    assert isinstance(response, Response)
    json.dumps(response.model_dump(mode="json"))


@given(
    st.binary(max_size=300),
    st.sampled_from([b"", b"data: ", b"{", b'data: {"choices":[{"delta":{"content":"']),
)
def test_no_bytes_make_it_raise(tail: bytes, start: bytes) -> None:
    assert isinstance(read_response(exchange(start + tail, request={"stream": True})), Response)


@given(JUNK)
def test_the_fast_json_parser_reads_what_the_standard_one_reads(obj: Any) -> None:
    response = read_response(exchange(whole({"content": "x"}, figure=obj)))
    assert response.raw == ({} if obj is None else {"figure": obj})


RECORDED = (
    ROLE + b": ping\r\n\r\n" + chunk({"reasoning": "생각"}) + chunk({"content": "정답은 "})
    + chunk({"content": "703🌍"}).replace(b"\n", b"\r\n")
    + 'data:{"choices":[{"index":0,"delta":{"content":"é"}}]}\n\n'.encode()
    + chunk({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}]})
    + chunk({}, "stop") + chunk(usage={"prompt_tokens": 3, "completion_tokens": 9}) + b"data: [DONE]"
)  # fmt: skip


@given(st.lists(st.integers(0, len(RECORDED)), max_size=60))
def test_where_reads_are_cut_changes_nothing(cuts: list[int]) -> None:
    bounds = [0, *sorted(cuts), len(RECORDED)]
    reads = tuple(Frame(1.0, RECORDED[a:b]) for a, b in pairwise(bounds))
    one = exchange(RECORDED).model_copy(update={"frames": (Frame(1.0, RECORDED),)})
    assert read_response(one.model_copy(update={"frames": reads})) == read_response(one)


@pytest.mark.benchmark(timer=time.process_time)
def test_reading_ten_thousand_deltas(benchmark: Any) -> None:
    """Goal: under 150 ms of processor time; what else runs on the machine does not count."""
    head = {
        "id": "chatcmpl-8c96a32f28842239",
        "created": 1789044705,
        "model": "org/model-of-usual-length-NVFP4",
    }
    reads = [chunk({"content": f" tok{n}"}, **head) for n in range(10_000)]
    recorded = exchange(*reads, chunk({}, "stop"), DONE)
    response = benchmark(read_response, recorded)
    assert len(response.deltas) == 10_000
    assert benchmark.stats.stats.min < 0.150
