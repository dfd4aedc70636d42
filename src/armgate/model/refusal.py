"""Why a server refused a request: its status and error text put into stable words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from armgate.model.outcome import Family
from armgate.model.response import ServerError, Void

_ANY_CASE = re.IGNORECASE | re.DOTALL
_CONTEXT = re.compile(
    r"context.(length|window|size)|maximum (sequence|model|input) len|max_model_len|prompt is too long"
    r"|(input|prompt|tokens?)\b.{0,60}(too long|longer than|larger than|greater than|exceeds?\b)"
    r"|(input|prompt|tokens?)\b.{0,60}(must be <=|must have less than|should not exceed)"
    r"|too many (input |prompt )?tokens",
    _ANY_CASE,
)
_COMPLETION = re.compile(r"completion|output tokens|max_(new_)?tokens\b|total requested", _ANY_CASE)
_PROMPT_COUNT = (
    re.compile(r"(\d+) tokens from the input|\((\d+) in the messages|(\d+) input tokens", _ANY_CASE),
    re.compile(r"given: (\d+)|(\d+) `inputs` tokens", _ANY_CASE),
    re.compile(r"(?:input|prompt|request|requested tokens) \((?:length )?(\d+)", _ANY_CASE),
    re.compile(r"prompt (?:contains|has)(?: at least)? (\d+)", _ANY_CASE),
    re.compile(
        r"(?:prompt|input|token)s?(?: token)?.(?:length|count|len)\w*(?: of| is|:)? \(?(\d+)", _ANY_CASE
    ),
    re.compile(r"(?:prompt|input) is too long:? \(?(\d+) tokens", _ANY_CASE),
)
_LIMIT = (
    re.compile(r"(?:context|sequence|model) (?:length|window|size) (?:is |of |\()?(\d+)", _ANY_CASE),
    re.compile(
        r"(?:maximum|max|allowed|model|input)[\w ]* (?:length|limit)(?: is| of|:)? \(?(\d+)", _ANY_CASE
    ),
    re.compile(r"max_\w+(?: of| is|:|=)? \(?(\d+)|limit(?: is| of|:)? \(?(\d+)", _ANY_CASE),
    re.compile(r"(?:must be <=|less than|should not exceed|>) (\d+)", _ANY_CASE),
)
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
    status: int,
    errors: Sequence[ServerError],
    window_tokens: int | None,
    prompt_tokens: int | None,
    cap_tokens: int | None = None,
) -> Void:
    """Puts an HTTP status of 300 or more and the body's errors into a cause.

    `context_rejected` fails (runtime) where the promised window holds the prompt and is `out_of_range`
    where it does not; the prompt's length is `prompt_tokens`, else what the error itself names. A
    prompt that fits with a cap that does not is `max_tokens_overflow`: our request, not the arm; but not
    where the promised window holds both. Sources: error texts of vLLM, SGLang, llama.cpp, Text Generation
    Inference, TensorRT-LLM, MLC, TabbyAPI and llama-cpp-python.
    """
    error = errors[0] if errors else ServerError(message="no message")
    told = f"HTTP {status}: {error.message}" + (f" (parameter {error.param})" if error.param else "")
    if status >= 400 and says_context(error):
        return context_refused(told, error, window_tokens, prompt_tokens, cap_tokens)
    words = f"{error.type or ''} {error.message}"
    if status >= 500 and _ENGINE_DEAD.search(words):
        return Void(cause="engine_crash", message=told, fails_as=Family.RUNTIME)
    return Void(cause=_cause(status, error, words), message=told)


def says_context(error: ServerError) -> bool:
    """Whether an error is about the length of the input."""
    return _CONTEXT.search(f"{error.type or ''} {error.code or ''} {error.message}") is not None


def _cause(status: int, error: ServerError, words: str) -> str:
    if status < 400:
        return "redirected"
    if status in _BY_STATUS or status >= 500:
        return _BY_STATUS.get(status, "server_error")
    refused = error.param or _NOT_SUPPORTED.search(words)
    return "request_unsupported_on_arm" if refused else "request_refused"


def context_refused(
    told: str,
    error: ServerError,
    window_tokens: int | None,
    prompt_tokens: int | None,
    cap_tokens: int | None = None,
) -> Void:
    """The cause of a refusal for length, under whatever status or inside a stream; both numbers are kept."""
    named, limit = _prompt_named(error), _limit_named(error)
    length = named if prompt_tokens is None else prompt_tokens
    numbers = {"prompt_tokens": length, "limit_tokens": limit, "window_tokens": window_tokens}
    known = {name: number for name, number in numbers.items() if number is not None}
    # The server's own count, where it names one, decides whether prompt and cap were within the promise.
    counted = length if named is None else named
    whole = None if counted is None or cap_tokens is None else counted + cap_tokens
    held = window_tokens is not None and whole is not None and whole <= window_tokens
    sum_alone = named is None or limit is None or named < limit
    if not held and sum_alone and _COMPLETION.search(error.message):
        return Void(cause="max_tokens_overflow", message=told, numbers=known)
    if window_tokens is None:
        return Void(cause="context_rejected", message=told, numbers=known)
    if length is not None and length > window_tokens:
        message = f"{told} ({length} prompt tokens, window promised: {window_tokens})"
        return Void(cause="out_of_range", message=message, numbers=known)
    sent = "an uncounted prompt" if length is None else f"{length} prompt tokens"
    message = f"{told} ({sent}, window promised: {window_tokens})"
    return Void(cause="context_rejected", message=message, fails_as=Family.RUNTIME, numbers=known)


def _prompt_named(error: ServerError) -> int | None:
    counted = error.details.get("n_prompt_tokens")
    return counted if type(counted) is int else _number(_PROMPT_COUNT, error.message)


def _limit_named(error: ServerError) -> int | None:
    size = error.details.get("n_ctx")
    return size if type(size) is int else _number(_LIMIT, error.message)


def _number(patterns: Sequence[re.Pattern[str]], text: str) -> int | None:
    """The number of the first pattern that finds one, the most telling pattern first."""
    for pattern in patterns:
        found = pattern.search(text)
        digits = next((group for group in found.groups() if group), "") if found else ""
        if 0 < len(digits) < 12:
            return int(digits)
    return None
