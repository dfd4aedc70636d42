"""Token counts as the server itself counts them, chat template included, in each engine's wire form.

Sources: `POST /tokenize` of vLLM 0.32 (`messages` or `prompt`), of SGLang (`prompt`, in newer versions also
`messages`), of llama.cpp (`content`, after `POST /apply-template`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Mapping

import httpx

from armgate.model.base import Json
from armgate.small_answers import NoWholeAnswer, whole_answer

DEADLINE_S = 300.0
"""A server that prefills a long prompt meanwhile may take its time to tokenize."""

Render = Callable[[Mapping[str, Json]], str]
"""The prompt that a chat request becomes, by the pinned chat template."""


class CountUnavailable(Exception):  # noqa: N818 - a state of the server, told to the ladder as a value
    """The server offers no usable token count; the message says what it answered."""


@dataclasses.dataclass(frozen=True)
class Tokenizing:
    """What a count needs: the server, the model's name, and where there is one the pinned template."""

    http: httpx.AsyncClient
    url: str
    model_id: str
    render: Render | None = None

    async def post(self, path: str, body: Mapping[str, Json]) -> dict[str, Json]:
        """The JSON object that the server answers with status 200, or CountUnavailable."""
        try:
            request = self.http.stream("POST", f"{self.url}{path}", json=dict(body), timeout=DEADLINE_S)
            answer = await whole_answer(request, DEADLINE_S)
            read = answer.json() if answer.status == 200 else None
        except (httpx.HTTPError, NoWholeAnswer, ValueError) as error:
            raise CountUnavailable(f"{path} gave no answer: {type(error).__name__}: {error}") from None
        if not isinstance(read, dict):
            raise CountUnavailable(f"{path} answered {answer.status} without an object")
        return read


async def _by_messages(server: Tokenizing, request: Mapping[str, Json]) -> int:
    """vLLM, newer SGLang: the server applies its chat template to the messages."""
    answer = await server.post("/tokenize", {"model": server.model_id, **request})
    return _count(answer, "count")


async def _by_template_endpoint(server: Tokenizing, request: Mapping[str, Json]) -> int:
    """llama.cpp: the template first, then the text with its special tokens read as such."""
    answer = await server.post("/apply-template", request)
    prompt = answer.get("prompt")
    if not isinstance(prompt, str) or not prompt:
        raise CountUnavailable("/apply-template gave no prompt")
    body = {"content": prompt, "add_special": True, "parse_special": True}
    return _count(await server.post("/tokenize", body), "tokens")


async def _by_prompt(server: Tokenizing, request: Mapping[str, Json]) -> int:
    """SGLang: the server tokenizes a prompt that the pinned template was applied to here."""
    if server.render is None:
        raise CountUnavailable("no pinned chat template to make a prompt for /tokenize of")
    body = {"model": server.model_id, "prompt": server.render(request), "add_special_tokens": False}
    return _count(await server.post("/tokenize", body), "count")


Form = Callable[[Tokenizing, Mapping[str, Json]], Awaitable[int]]

FORMS: dict[str, Form] = {
    "POST /tokenize of the messages": _by_messages,
    "POST /apply-template, then /tokenize": _by_template_endpoint,
    "POST /tokenize of the prompt by the pinned template": _by_prompt,
}
"""By the words in which records name them, in the order in which they are tried."""


async def form_of(server: Tokenizing, request: Mapping[str, Json]) -> str:
    """The first form in which this server counts `request`; else CountUnavailable with all that it said."""
    said = []
    for name, form in FORMS.items():
        try:
            await form(server, request)
        except CountUnavailable as error:
            said.append(str(error))
            continue
        return name
    raise CountUnavailable("; ".join(said))


def _count(answer: Mapping[str, Json], key: str) -> int:
    """A positive count, or the length of a list of tokens; a chat request is never empty."""
    value = answer.get(key)
    count = len(value) if isinstance(value, list) else value
    if type(count) is not int or count < 1:
        raise CountUnavailable(f"/tokenize answered without {key}")
    return count
