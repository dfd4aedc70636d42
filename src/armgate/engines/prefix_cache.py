"""Emptying an engine's prefix cache, refused by the answer's status, or by its body where that says so."""

from __future__ import annotations

import httpx

from armgate.small_answers import Answer, NoWholeAnswer, whole_answer

DEADLINE_S = 30.0


async def reset_prefix_cache(http: httpx.AsyncClient, url: str, path: str | None) -> str | None:
    """`None` once the cache is empty, else why it may not be.

    vLLM answers a failed reset with HTTP 200 and `{"success": false}` while requests still hold blocks, and
    has the path only with VLLM_SERVER_DEV_MODE=1.
    """
    if path is None:
        return "the engine has no way to empty its prefix cache"
    try:
        answer = await whole_answer(http.stream("POST", f"{url}{path}", timeout=DEADLINE_S), DEADLINE_S)
    except (httpx.HTTPError, NoWholeAnswer) as error:
        return f"{path}: {type(error).__name__}: {error}"
    if answer.status != 200:
        return f"{path} answered HTTP {answer.status}"
    if _success(answer) is False:
        return f"{path} answered HTTP 200 and {answer.body[:200].decode(errors='replace')}"
    return None


def _success(answer: Answer) -> bool | None:
    """What the body says; older vLLM and SGLang say nothing in it, and are believed by their status."""
    try:
        body = answer.json()
    except ValueError:
        return None
    found = body.get("success") if isinstance(body, dict) else None
    return found if isinstance(found, bool) else None
