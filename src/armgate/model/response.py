"""A response: what an exchange says, as served. Channels stay apart and null is not the empty text."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, NamedTuple

from pydantic import SkipValidation

from armgate.model.base import Frozen, Json
from armgate.model.outcome import Family


class Channel(StrEnum):
    CONTENT = "content"
    REASONING = "reasoning"
    TOOL_CALLS = "tool_calls"


class ToolCall(Frozen):
    """One tool call; `arguments` is the joined text as sent, never parsed and re-serialised."""

    index: int
    id: str | None
    name: str | None
    arguments: str | None


class Usage(Frozen):
    """Token counts as the server reports them (last report wins); `None` where it did not say.

    A zero that the exchange itself contradicts counts as not said, and `as_sent` still shows it.
    `trusted` is false where `completion_tokens` cannot be true; `doubts` names the reasons.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    as_sent: dict[str, Json] = {}
    reports: int = 1
    """How many times the stream carried a usage object; they are cumulative and never added up."""
    trusted: bool = True
    doubts: tuple[str, ...] = ()


class ServerError(Frozen):
    """An error found in a body or inside a 200 stream: an error object, or plain text in its place."""

    message: str
    code: str | None = None
    type: str | None = None
    param: str | None = None
    details: dict[str, Json] = {}
    """The error object's other keys (`n_ctx`, ...)."""


class Delta(NamedTuple):
    """One piece of text: when it arrived, in which channel, and how many characters it added.

    A tool call's name counts as characters. `tokens` is how many token ids came with the event, counted
    once if the event carries several pieces; `None` where the server sends none.
    """

    at_s: float
    channel: Channel
    chars: int
    tokens: int | None = None


class Timings(Frozen):
    """Seconds since the request was handed to the socket; absent where nothing of the kind arrived.

    TTFT counts the first text, reasoning or tool-call delta and `ttft_channel` names which.
    `last_text_s` is the last such delta, never the usage chunk or `[DONE]`; `finish_s` is the first
    finish reason. `wall_s` is when the answer was whole: the later of those two, so that a usage chunk
    or `[DONE]` that comes late moves no figure; `body_s` is the body's last byte. A body that is not a
    stream has only these two, and they are the same.
    """

    ttft_s: float | None = None
    ttft_channel: Channel | None = None
    first_content_s: float | None = None
    last_text_s: float | None = None
    finish_s: float | None = None
    wall_s: float | None = None
    body_s: float | None = None


class Response(Frozen):
    """What one exchange says. Nothing here is stripped, trimmed, defaulted or parsed out of text.

    Text may hold lone surrogates (a server can send `"\\ud83d"`, or bytes that are not UTF-8, which are
    kept as U+DC80..U+DCFF): dump in mode "json" and write with `ensure_ascii`.
    """

    content: str | None = None
    reasoning: str | None = None
    reasoning_fields: tuple[str, ...] = ()
    """Names under which reasoning arrived (`reasoning`, `reasoning_content`), in order seen."""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    stop_reason: Json = None
    usage: Usage | None = None
    model: str | None = None
    system_fingerprint: str | None = None
    token_ids: Annotated[tuple[int, ...] | None, SkipValidation] = None
    prompt_token_ids: Annotated[tuple[int, ...] | None, SkipValidation] = None
    logprobs: Annotated[tuple[dict[str, Json], ...] | None, SkipValidation] = None
    errors: tuple[ServerError, ...] = ()
    streamed: bool = False
    done_seen: bool = False
    deltas: Annotated[tuple[Delta, ...], SkipValidation] = ()
    timings: Timings = Timings()
    flags: tuple[str, ...] = ()
    """Facts worth knowing that change no outcome by themselves (`no_done_sentinel`, ...), sorted."""
    unreadable: tuple[str, ...] = ()
    """Events or bodies that are neither the protocol nor an error text: evidence is missing there."""
    raw: dict[str, Json] = {}
    """Figures of the server's own (speculation metrics, ...) that have no field above."""

    def channel(self, name: str) -> str | None:
        """Text of a channel by name; tool calls are the concatenated arguments."""
        if name == Channel.CONTENT:
            return self.content
        if name == Channel.REASONING:
            return self.reasoning
        if name == Channel.TOOL_CALLS:
            return "".join(call.arguments or "" for call in self.tool_calls) if self.tool_calls else None
        raise KeyError(name)

    @property
    def has_text(self) -> bool:
        """Whether any channel carries at least one character or a tool call."""
        return bool(self.content or self.reasoning or self.tool_calls)

    def effective_stop(self, cap_tokens: int | None) -> str | None:
        """The finish reason, or `length` where the count reached the cap whatever the server called it.

        vLLM streams rewrite the reason of a cut tool call to `tool_calls`.
        """
        used = self.usage.completion_tokens if self.usage and self.usage.trusted else None
        if cap_tokens is not None and used is not None and used >= cap_tokens:
            return "length"
        return self.finish_reason


class Void(Frozen):
    """Why an exchange cannot carry a verdict. `cause` is a stable word, `message` says it in full.

    `fails_as` is set where the table of outcomes counts the sample as failed under that family
    all the same: text lost by the server (contract), a crash or a window not served (runtime).
    """

    cause: str
    message: str
    fails_as: Family | None = None
    numbers: dict[str, int] = {}
    """What the message counts, by name: `prompt_tokens`, `served_tokens`, `limit_tokens`, ..."""
