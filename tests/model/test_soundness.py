from __future__ import annotations

import json
from typing import Any

import pytest

from armgate.model.exchange import Exchange, Fate, Frame, Mask
from armgate.model.outcome import Family
from armgate.model.reading import read_response
from armgate.model.response import Void
from armgate.model.soundness import TEXT_LOST, Asked, thinking_asked, void_of

USAGE = {"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23}


def answer(
    message: dict[str, Any], finish: str | None = "stop", usage: dict[str, Any] | None = None
) -> bytes:
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return json.dumps({"choices": [choice], "usage": usage or USAGE}).encode()


def judged(
    body: bytes, asked: Asked | None = None, request: dict[str, Any] | None = None, **more: Any
) -> Void | None:
    fields: dict[str, Any] = {"status": 200, "headers": {}, "fate": Fate.COMPLETE, "timed": False}
    exchange = Exchange(request=request or {}, frames=(Frame(0.0, body),), **{**fields, **more})
    return void_of(exchange, read_response(exchange), asked)


def cause(*args: Any, **fields: Any) -> str | None:
    void = judged(*args, **fields)
    return None if void is None else void.cause


SOUND = answer({"content": "703"})
THOUGHT = answer({"content": "703", "reasoning": "19*37"})
STREAM = b'data: {"choices":[{"index":0,"delta":{"content":"703"},"finish_reason":null}]}\n\n'


def test_a_sound_exchange_carries_a_verdict() -> None:
    assert judged(SOUND) is None
    assert judged(THOUGHT) is None


@pytest.mark.parametrize(
    ("fate", "word"),
    [
        (Fate.DROPPED, "connection_dropped"),
        (Fate.TIMEOUT, "timeout"),
        (Fate.CUT, "recording_cut"),
        (Fate.REFUSED, "connection_refused"),
    ],
)
def test_every_fate_but_complete_voids(fate: Fate, word: str) -> None:
    void = judged(SOUND, fate=fate, error="told so")
    assert void is not None
    assert (void.cause, void.fails_as) == (word, None)
    assert "told so" in void.message


def test_no_response_at_all() -> None:
    assert cause(b"", status=None) == "no_response"


def test_a_clean_end_without_a_finish_reason() -> None:
    assert cause(STREAM) == "stream_truncated"
    assert cause(STREAM + b"data: [DONE]\n\n") == "stream_truncated"
    assert cause(answer({"content": "703"}, finish=None)) == "no_finish_reason"


def test_an_error_in_the_stream_comes_before_the_fate() -> None:
    error = STREAM + b'data: {"error":{"message":"boom","type":"T","code":504}}\n\n'
    assert cause(error) == cause(error, fate=Fate.TIMEOUT) == "server_error_in_stream"
    void = judged(error)
    assert void is not None
    assert "boom (T 504)" in void.message


def test_a_generation_that_the_server_aborted() -> None:
    assert cause(answer({"content": "70"}, finish="abort")) == "server_aborted"


def test_what_cannot_be_read_voids() -> None:
    assert cause(b"<html></html>") == "unreadable_body"
    assert cause(STREAM + b'data: {"broken\n\n' + b"data: [DONE]\n\n") == "unreadable_event"


def test_extra_body_is_no_key_of_the_wire() -> None:
    assert cause(SOUND, request={"extra_body": {"min_p": 0}}) == "arm_setting_not_applied"


def test_sampling_is_named_in_the_request_with_the_values_asked() -> None:
    asked = Asked(sampling={"temperature": 0.0, "top_p": 1.0})
    assert cause(SOUND, asked, {"temperature": 0, "top_p": 1}) is None
    assert cause(SOUND, asked, {"temperature": 0}) == "sampling_not_explicit"
    assert cause(SOUND, asked, {"temperature": 0.7, "top_p": 1}) == "sampling_not_as_asked"


OFF = {"chat_template_kwargs": {"enable_thinking": False}}
ON = {"chat_template_kwargs": {"enable_thinking": True}}


@pytest.mark.parametrize(
    ("body", "request_", "asked", "word"),
    [
        (THOUGHT, OFF, Asked(), "arm_setting_not_applied"),
        (THOUGHT, {}, Asked(thinking="off"), "arm_setting_not_applied"),
        (THOUGHT, ON, Asked(), None),
        (SOUND, OFF, Asked(), None),
        (SOUND, ON, Asked(), "thinking_not_as_asked"),
        (answer({"content": "<think>19*37</think>703"}), ON, Asked(), None),
        (answer({"content": None, "reasoning": "703"}), OFF, Asked(), None),
        (answer({"content": None, "reasoning": "19*"}, "length"), OFF, Asked(), "arm_setting_not_applied"),
        (
            answer({"content": "703"}, usage={**USAGE, "completion_tokens_details": {"reasoning_tokens": 2}}),
            ON, Asked(), "reasoning_not_captured",
        ),
    ],
)  # fmt: skip
def test_thinking(body: bytes, request_: dict[str, Any], asked: Asked, word: str | None) -> None:
    assert cause(body, asked, request_) == word


@pytest.mark.parametrize(
    ("request_", "state"),
    [
        ({"chat_template_kwargs": {"thinking": True}}, "on"),
        ({"think": False}, "off"),
        ({"reasoning_effort": "none"}, "off"),
        ({"chat_template_kwargs": []}, "as_served"),
        ({}, "as_served"),
    ],
)
def test_thinking_asked(request_: dict[str, Any], state: str) -> None:
    assert thinking_asked(request_) == state


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_the_cap(name: str) -> None:
    long = {"prompt_tokens": 900, "completion_tokens": 300, "total_tokens": 1200}
    text = {"content": "word " * 100}
    assert cause(answer(text, usage=long), request={name: 256}) == "cap_not_honoured"
    assert cause(answer(text, usage=long), request={name: 300}) is None
    assert cause(answer(text, "length", usage=long), request={name: 300}) is None
    assert cause(answer(text, "length", usage=long), request={name: 500}) == "cap_not_honoured"
    assert cause(answer(text, "length", usage=long), Asked(window_tokens=1200), {name: 500}) is None


def test_a_count_that_cannot_be_true_breaks_no_cap() -> None:
    absurd = {"prompt_tokens": 22, "completion_tokens": 19503, "total_tokens": 19525}
    assert cause(answer({"content": "word " * 10}, usage=absurd), request={"max_tokens": 512}) is None


def test_text_that_the_server_lost_fails_contracts() -> None:
    lost = {"prompt_tokens": 40, "completion_tokens": 57, "total_tokens": 97}
    void = judged(answer({"content": None}, usage=lost))
    assert void is not None
    assert (void.cause, void.fails_as) == (TEXT_LOST, Family.CONTRACT)
    empty = {"prompt_tokens": 40, "completion_tokens": 1, "total_tokens": 41}
    assert judged(answer({"content": ""}, usage=empty)) is None
    assert judged(answer({"content": None}, "length", usage=lost)) is None


def test_nothing_at_all_is_suspect() -> None:
    zeros = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    assert cause(answer({"content": ""}, usage=zeros)) == "empty_response_suspect_request"
    assert cause(answer({"content": "", "reasoning": "703"}, usage=zeros)) is None


def test_the_prompt_against_what_was_sent() -> None:
    short = answer({"content": "x"}, usage={"prompt_tokens": 4098, "completion_tokens": 6})
    void = judged(short, Asked(prompt_tokens=7900, window_tokens=8192))
    assert void is not None
    assert (void.cause, void.fails_as) == ("prompt_truncated", Family.RUNTIME)
    assert cause(short, Asked(prompt_tokens=7900, window_tokens=4096)) == "out_of_range"
    assert cause(short, Asked(prompt_tokens=4090, window_tokens=8192)) is None
    unknown = answer({"content": "x"}, usage={"prompt_tokens": 0, "completion_tokens": 6})
    assert cause(unknown, Asked(prompt_tokens=7900, window_tokens=8192)) is None


def test_a_cached_prefix_where_a_fresh_one_was_asked() -> None:
    cached = answer({"content": "x"}, usage={**USAGE, "prompt_tokens_details": {"cached_tokens": 16}})
    assert cause(cached, Asked(fresh_prefix=True)) == "prompt_cached"
    assert cause(cached) is None


def test_a_secret_inside_the_answer_leaves_no_text_to_judge() -> None:
    masks = (Mask(offset=3, length=6, kind="api_key"),)
    assert cause(answer({"content": "key ******"}), masks=masks) == "secret_in_answer"
    assert cause(answer({"content": "*****"}), masks=masks) is None
    assert cause(answer({"content": "key ******"})) is None


@pytest.mark.parametrize(("used", "word"), [(128, None), (140, None), (1024, "thinking_budget_ignored")])
def test_a_budget_of_thinking_that_was_not_kept_is_void(used: int, word: str | None) -> None:
    details = {"completion_tokens_details": {"reasoning_tokens": used}}
    usage = {**USAGE, "completion_tokens": used + 3, "total_tokens": used + 23, **details}
    body = answer({"content": "703", "reasoning": "19*37"}, usage=usage)
    assert cause(body, request={"thinking_token_budget": 128}) == word
    assert cause(body) is None
