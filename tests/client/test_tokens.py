"""Token counts in each engine's wire form, from answers as the engines give them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from armgate.client.tokens import FORMS, CountUnavailable, Tokenizing, form_of

REQUEST = {
    "messages": [{"role": "user", "content": "two words"}],
    "chat_template_kwargs": {"enable_thinking": False},
}
VLLM, LLAMA, SGLANG = FORMS
Answer = Callable[[str, dict[str, Any]], httpx.Response]


def vllm(path: str, body: dict[str, Any]) -> httpx.Response:
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    return httpx.Response(200, json={"count": 9, "max_model_len": 8192, "tokens": [1] * 9})


def sglang(path: str, body: dict[str, Any]) -> httpx.Response:
    if "prompt" not in body:
        return httpx.Response(422, json={"detail": "Field required"})
    assert body["add_special_tokens"] is False
    return httpx.Response(200, json={"tokens": [1, 2], "count": len(body["prompt"].split())})


def llama(path: str, body: dict[str, Any]) -> httpx.Response:
    if path == "/apply-template":
        assert body["chat_template_kwargs"] == {"enable_thinking": False}
        return httpx.Response(200, json={"prompt": "<|user|> two words <|assistant|>"})
    # Without `content` llama.cpp answers with no tokens, and not with an error.
    return httpx.Response(200, json={"tokens": body.get("content", "").split()})


def server(answer: Answer, render: Callable[[Any], str] | None = None) -> Tokenizing:
    def handle(request: httpx.Request) -> httpx.Response:
        return answer(request.url.path, json.loads(request.content))

    http = httpx.AsyncClient(transport=httpx.MockTransport(handle))
    return Tokenizing(http, "http://here", "model", render)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("answer", "form", "tokens"), [(vllm, VLLM, 9), (llama, LLAMA, 4), (sglang, SGLANG, 4)]
)
async def test_each_engine_is_asked_in_its_own_form(answer: Answer, form: str, tokens: int) -> None:
    asked = server(answer, lambda request: f"a {request['messages'][0]['content']} b")
    assert await form_of(asked, REQUEST) == form
    assert await FORMS[form](asked, REQUEST) == tokens


@pytest.mark.anyio
async def test_a_form_that_takes_a_prompt_needs_the_pinned_template() -> None:
    with pytest.raises(CountUnavailable, match="no pinned chat template"):
        await form_of(server(sglang), REQUEST)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "response",
    [
        httpx.Response(404, json={"detail": "Not Found"}),
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json=[1]),
        httpx.Response(200, json={"count": True, "tokens": []}),
        httpx.Response(200, json={"count": 0}),
        httpx.Response(200, json={"count": "9"}),
        httpx.Response(500, json={"count": 9}),
    ],
)
async def test_what_is_no_count_is_not_taken_for_one(response: httpx.Response) -> None:
    with pytest.raises(CountUnavailable):
        await form_of(server(lambda path, body: response), REQUEST)


@pytest.mark.anyio
async def test_a_server_that_is_gone_is_unavailable_too() -> None:
    def gone(path: str, body: dict[str, Any]) -> httpx.Response:
        raise httpx.ConnectError("refused")

    with pytest.raises(CountUnavailable, match="/tokenize gave no answer: ConnectError"):
        await form_of(server(gone), REQUEST)
