"""Why a server refused a request: its status and error text put into stable words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from armgate.model.outcome import Family
from armgate.model.response import ServerError, Void

_ANY_CASE = re.IGNORECASE | re.DOTALL
_CONTEXT = re.compile(
    r"context.(length|window|size)|maximum (sequence|model) len|max_model_len|prompt is too long"
    r"|(input|prompt).{0,60}(too long|longer than|exceeds)",
    _ANY_CASE,
)
_COMPLETION = re.compile(r"completion|output tokens|max_tokens", _ANY_CASE)
_PROMPT_COUNT = re.compile(
    r"(\d+) tokens from the input|\((\d+) in the messages|(\d+) input tokens|(?:input|prompt) \((\d+) tokens"
    r"|prompt (?:contains|has)(?: at least)? (\d+)",
    _ANY_CASE,
)
_LIMIT = re.compile(r"(?:context|sequence|model) (?:length|window|size) (?:is |of |\()?(\d+)", _ANY_CASE)
_NOT_SUPPORTED = re.compile(
    r"not (?:yet )?(?:supported|permitted|allowed)|unsupported|unrecognized"
    r"|unknown (?:parameter|field|argument)|extra_forbidden|extra inputs",
    _ANY_CASE,
)
_ENGINE_DEAD = re.compile(
    r"EngineCore|EngineDead|engine (?:is )?dead|engine died|CUDA error|illegal memory", _ANY_CASE
)

_BY_STATUS = {
    401: "unauthorised",
    403: "unauthorised",
    404: "not_served",
    408: "server_timeout",
    413: "request_too_large",
    429: "rate_limited",
    504: "server_timeout",
}


def refusal_of(
    status: int, errors: Sequence[ServerError], window_tokens: int | None, prompt_tokens: int | None
) -> Void:
    """Puts an HTTP status of 300 or more and the body's errors into a cause.

    `context_rejected` fails (runtime) where the promised window holds the prompt and is `out_of_range`
    where it does not; the prompt's length is `prompt_tokens`, else what the error itself names. A
    prompt that fits with a cap that does not is `max_tokens_overflow`: our request, not the arm.
    Sources: error texts of vLLM, SGLang and llama.cpp.
    """
    error = errors[0] if errors else ServerError(message="no message")
    told = f"HTTP {status}: {error.message}" + (f" (parameter {error.param})" if error.param else "")
    words = f"{error.type or ''} {error.message}"
    if status >= 400 and _CONTEXT.search(words):
        return _context(told, error, window_tokens, prompt_tokens)
    if status >= 500 and _ENGINE_DEAD.search(words):
        return Void(cause="engine_crash", message=told, fails_as=Family.RUNTIME)
    return Void(cause=_cause(status, error, words), message=told)


def _cause(status: int, error: ServerError, words: str) -> str:
    if status < 400:
        return "redirected"
    if status in _BY_STATUS or status >= 500:
        return _BY_STATUS.get(status, "server_error")
    refused = error.param or _NOT_SUPPORTED.search(words)
    return "request_unsupported_on_arm" if refused else "request_refused"


def _context(told: str, error: ServerError, window_tokens: int | None, prompt_tokens: int | None) -> Void:
    named, limit = _prompt_named(error), _limit_named(error)
    if _COMPLETION.search(error.message) and (named is None or limit is None or named < limit):
        return Void(cause="max_tokens_overflow", message=told)
    if window_tokens is None:
        return Void(cause="context_rejected", message=told)
    length = named if prompt_tokens is None else prompt_tokens
    if length is not None and length > window_tokens:
        return Void(cause="out_of_range", message=f"{told} (window promised: {window_tokens})")
    return Void(cause="context_rejected", message=told, fails_as=Family.RUNTIME)


def _prompt_named(error: ServerError) -> int | None:
    counted = error.details.get("n_prompt_tokens")
    return counted if type(counted) is int else _number(_PROMPT_COUNT, error.message)


def _limit_named(error: ServerError) -> int | None:
    size = error.details.get("n_ctx")
    return size if type(size) is int else _number(_LIMIT, error.message)


def _number(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.search(text)
    digits = next((group for group in found.groups() if group), "") if found else ""
    return int(digits) if 0 < len(digits) < 12 else None
