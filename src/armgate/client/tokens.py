"""Token counts as the server itself counts them, chat template included."""

from __future__ import annotations

from collections.abc import Sequence

import httpx

from armgate.model.base import Json


class CountUnavailable(Exception):  # noqa: N818 - a state of the server, told to the ladder as a value
    """The server offers no usable token count; the message says what it answered."""


async def count_prompt_tokens(
    http: httpx.AsyncClient, url: str, model_id: str, messages: Sequence[dict[str, Json]]
) -> int:
    """Prompt tokens of a chat request by vLLM's `POST /tokenize` (its answer's `count`)."""
    try:
        answer = await http.post(f"{url}/tokenize", json={"model": model_id, "messages": list(messages)})
        body = answer.json()
    except (httpx.HTTPError, ValueError) as error:
        raise CountUnavailable(f"/tokenize gave no answer: {error}") from None
    count = body.get("count") if isinstance(body, dict) else None
    if answer.status_code != 200 or not isinstance(count, int):
        raise CountUnavailable(f"/tokenize answered {answer.status_code} without a count")
    return count
