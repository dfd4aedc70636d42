"""Whether one exchange can carry a verdict: the void row of the outcomes, as far as its bytes show it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from armgate.model.base import Frozen, Json
from armgate.model.clauses.markers import REASONING_FAMILIES
from armgate.model.exchange import Exchange, Fate
from armgate.model.outcome import Family
from armgate.model.refusal import context_refused, refusal_of, says_context
from armgate.model.response import Response, Void

Thinking = Literal["on", "off", "as_served"]

TEXT_LOST = "tokens_generated_but_no_text"
"""Failed for contract gates; where texts are compared with each other (losslessness) it is void."""

_THINKING_MARKS = tuple(
    mark for family in REASONING_FAMILIES for mark in (*family.open, *family.close, *family.signs)
)
_SERVER_STOPS = ("abort", "error", "cancelled")
_MASK = "*"

TEMPLATE_SHARE = 0.97
"""What is left of a count where a template is counted on one side only; less is a cut prompt."""


class Asked(Frozen):
    """What was asked of the exchange besides its body; what is `None` is not checked.

    `sampling` are the parameters that the request must name with these values. `window_tokens` is the
    context that the arm's pins promise, `prompt_tokens` the input's length by the arm's own tokenizer,
    `least_served` the fewest tokens that the server may report for all of it (`prompt_tokens` if `None`).
    `fresh_prefix` demands that no prompt token came out of a cache, save the `template_tokens` that every
    prompt of the arm begins with; `warm_prefix` demands that more than those did.
    """

    thinking: Thinking = "as_served"
    sampling: dict[str, Json] = {}
    window_tokens: int | None = None
    prompt_tokens: int | None = None
    least_served: int | None = None
    fresh_prefix: bool = False
    warm_prefix: bool = False
    template_tokens: int = 0


def void_of(exchange: Exchange, response: Response, asked: Asked | None = None) -> Void | None:
    """Why this exchange cannot carry a verdict, or `None` where it can. The first rule that matches wins.

    Causes are stable words. A void whose `fails_as` is set counts as failed (see `Void`).
    """
    asked = asked or Asked()
    for rule in _RULES:
        found = rule(exchange, response, asked)
        if found is not None:
            return found
    return None


def thinking_asked(request: dict[str, Json]) -> Thinking:
    """The thinking state that a request's own keys ask for, in the words of the servers that read them."""
    switches = request.get("chat_template_kwargs")
    switches = switches if isinstance(switches, dict) else {}
    for value in (switches.get("enable_thinking"), switches.get("thinking"), request.get("think")):
        if isinstance(value, bool):
            return "on" if value else "off"
    return "off" if request.get("reasoning_effort") == "none" else "as_served"


def _no_answer(exchange: Exchange, response: Response, asked: Asked) -> Void | None:
    if exchange.fate is Fate.REFUSED:
        return Void(cause="connection_refused", message=exchange.error or "no connection to the server")
    return None


def _http_error(exchange: Exchange, response: Response, asked: Asked) -> Void | None:
    if exchange.status is None or exchange.status < 300:
        return None
    return refusal_of(
        exchange.status, response.errors, asked.window_tokens, asked.prompt_tokens, exchange.cap_tokens
    )


def _error_in_stream(exchange: Exchange, response: Response, asked: Asked) -> Void | None:
    if response.errors:
        first = response.errors[0]
        if asked.window_tokens is not None and says_context(first) and not response.has_text:
            told = f"under status {exchange.status}: {first.message}"
            return context_refused(told, first, asked.window_tokens, asked.prompt_tokens, exchange.cap_tokens)
        kind = f" ({first.type or ''} {first.code or ''})".replace("( ", "(").replace(" )", ")")
        told = f"{first.message}{kind if first.type or first.code else ''}"
        return Void(cause="server_error_in_stream", message=f"the server reported an error under 200: {told}")
    if response.finish_reason in _SERVER_STOPS:
        return Void(cause="server_aborted", message=f"the server ended it with {response.finish_reason!r}")
    return None


_FATES = {
    Fate.DROPPED: ("connection_dropped", "the connection was lost before the answer's end"),
    Fate.TIMEOUT: ("timeout", "a deadline of the client passed before the answer's end"),
    Fate.CUT: ("recording_cut", "the recording ends before the answer does"),
}


def _broken_off(exchange: Exchange, response: Response, asked: Asked) -> Void | None:
    if exchange.fate in _FATES:
        cause, message = _FATES[exchange.fate]
        return Void(cause=cause, message=f"{message}: {exchange.error}" if exchange.error else message)
    if exchange.status is None:
        return Void(cause="no_response", message="the exchange holds no response")
    return None


def _unreadable(exchange: Exchange, response: Response, asked: Asked) -> Void | None:
    if not response.unreadable:
        return None
    cause = "unreadable_event" if response.streamed else "unreadable_body"
    return Void(cause=cause, message=f"not the protocol: {response.unreadable[0]}")


def _no_finish(exchange: Exchange, response: Response, asked: Asked) -> Void | None:
    if response.finish_reason is not None:
        return None
    if response.streamed:
        return Void(cause="stream_truncated", message="the stream ended without a finish reason")
    return Void(cause="no_finish_reason", message="the answer names no finish reason")


def _setting_ignored(exchange: Exchange, response: Response, asked: Asked) -> Void | None:
    """`extra_body` is an argument of a client library; a server ignores it without a word."""
    if "extra_body" in exchange.request:
        return Void(
            cause="arm_setting_not_applied",
            message="the request has a key extra_body, which no server reads: what it asks for was not asked",
        )
    for name, value in asked.sampling.items():
        if name not in exchange.request:
            return Void(cause="sampling_not_explicit", message=f"{name} was left to the server's default")
        if exchange.request[name] != value:
            sent = exchange.request[name]
            return Void(cause="sampling_not_as_asked", message=f"{name}: asked {value!r}, sent {sent!r}")
    return None


def _thinking(exchange: Exchange, response: Response, asked: Asked) -> Void | None:
    wanted = asked.thinking if asked.thinking != "as_served" else thinking_asked(exchange.request)
    counted = (response.usage.reasoning_tokens or 0) if response.usage else 0
    thought = bool(response.reasoning) or counted > 0
    if wanted == "off" and thought and not _answer_is_in_reasoning(response):
        return Void(
            cause="arm_setting_not_applied",
            message="thinking was asked to be off and the answer comes with reasoning",
        )
    if wanted == "on" and not response.reasoning and not _thinks_aloud(response):
        if counted:
            return Void(cause="reasoning_not_captured", message=f"{counted} reasoning tokens and no text")
        return Void(cause="thinking_not_as_asked", message="thinking was asked and no reasoning came")
    return None


def _thinks_aloud(response: Response) -> bool:
    """Thinking that no parser took out of the text: contracts judge that, it did not fail to come."""
    return any(mark in (response.content or "") for mark in _THINKING_MARKS)


def _answer_is_in_reasoning(response: Response) -> bool:
    """A parser that takes the whole answer for thinking: the arm as served fails, the model did not think."""
    return bool(response.reasoning) and not response.content and response.finish_reason == "stop"


CLOSING_TOKENS = 16
"""What a server that ends the thinking by itself may still write to close it."""


def _thinking_budget(exchange: Exchange, response: Response, asked: Asked) -> Void | None:
    """A cap on thinking that some arms obey and others ignore makes their answers unlike work (vLLM's
    `thinking_token_budget` with and without a draft)."""
    budget = exchange.request.get("thinking_token_budget")
    used = response.usage.reasoning_tokens if response.usage else None
    if type(budget) is not int or used is None or used <= budget + CLOSING_TOKENS:
        return None
    message = f"{used} tokens of thinking under a budget of {budget}"
    return Void(cause="thinking_budget_ignored", message=message)


def _cap(exchange: Exchange, response: Response, asked: Asked) -> Void | None:
    cap, usage = exchange.cap_tokens, response.usage
    if cap is None or usage is None or usage.completion_tokens is None or not usage.trusted:
        return None
    used = usage.completion_tokens
    if used > cap:
        return Void(cause="cap_not_honoured", message=f"{used} tokens under a cap of {cap}")
    if response.finish_reason == "length" and used < cap and not _window_is_full(response, asked):
        return Void(
            cause="cap_not_honoured",
            message=f"ended for length after {used} tokens under a cap of {cap}",
        )
    return None


def _window_is_full(response: Response, asked: Asked) -> bool:
    total = response.usage.total_tokens if response.usage else None
    return asked.window_tokens is not None and total is not None and total >= asked.window_tokens


def _prompt(exchange: Exchange, response: Response, asked: Asked) -> Void | None:
    """A template only adds to a prompt: markedly fewer tokens than were sent means that it was cut."""
    if asked.prompt_tokens is None:
        return None
    if asked.window_tokens is not None and asked.prompt_tokens > asked.window_tokens:
        promised = f"{asked.prompt_tokens} tokens sent into a window of {asked.window_tokens}"
        numbers = {"prompt_tokens": asked.prompt_tokens, "window_tokens": asked.window_tokens}
        return Void(cause="out_of_range", message=promised, numbers=numbers)
    seen = response.usage.prompt_tokens if response.usage else None
    least = asked.prompt_tokens if asked.least_served is None else asked.least_served
    if seen is not None and seen < TEMPLATE_SHARE * least:
        cut = f"the server saw {seen} of {asked.prompt_tokens} prompt tokens"
        numbers = {"prompt_tokens": asked.prompt_tokens, "served_tokens": seen}
        return Void(cause="prompt_truncated", message=cut, fails_as=Family.RUNTIME, numbers=numbers)
    return None


def _cache(exchange: Exchange, response: Response, asked: Asked) -> Void | None:
    cached = response.usage.cached_tokens if response.usage else None
    if asked.fresh_prefix and (cached or 0) > asked.template_tokens:
        return Void(cause="prompt_cached", message=f"{cached} prompt tokens came from a cache")
    if asked.warm_prefix and (cached or 0) <= asked.template_tokens:
        told = "the server does not say" if cached is None else f"{cached} prompt tokens"
        return Void(cause="prompt_not_cached", message=f"asked to come out of a warm cache: {told}")
    return None


def _text_lost(exchange: Exchange, response: Response, asked: Asked) -> Void | None:
    """One token is an end of turn, so an empty answer; more of them had text that never arrived.

    Tokens up to the cap may all be thinking that the server keeps to itself: `finish` judges those.
    """
    if response.has_text or response.usage is None or response.finish_reason == "length":
        return None
    sent = response.usage.as_sent
    made = response.usage.completion_tokens or 0
    if made > 1:
        lost = f"{made} tokens were generated and no channel carries text"
        return Void(cause=TEXT_LOST, message=lost, fails_as=Family.CONTRACT)
    if made == 0 and sent.get("prompt_tokens") == 0:
        return Void(cause="empty_response_suspect_request", message="no text and no tokens counted at all")
    return None


def _masked(exchange: Exchange, response: Response, asked: Asked) -> Void | None:
    texts = (response.content or "", response.reasoning or "", response.channel("tool_calls") or "")
    if any(_MASK * mask.length in text for mask in exchange.masks for text in texts):
        return Void(cause="secret_in_answer", message="a known secret was masked in the recorded answer")
    return None


_RULES: tuple[Callable[[Exchange, Response, Asked], Void | None], ...] = (
    _no_answer,
    _http_error,
    _error_in_stream,
    _broken_off,
    _unreadable,
    _no_finish,
    _setting_ignored,
    _prompt,
    _thinking,
    _thinking_budget,
    _cache,
    _cap,
    _text_lost,
    _masked,
)
