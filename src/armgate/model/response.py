"""A response: what an exchange says, as served. Channels stay apart and null is not the empty text."""

from __future__ import annotations

from enum import StrEnum

from armgate.model.base import Frozen, Json


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
    """Token counts as the server sent them (last report wins); `None` where it did not say."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    as_sent: dict[str, Json] = {}
    reports: int = 1
    """How many times the stream carried a usage object; they are cumulative and never added up."""


class ServerError(Frozen):
    """An error object found in a body or inside a 200 stream."""

    message: str
    code: str | None = None
    type: str | None = None


class Delta(Frozen):
    """One piece of text: when it arrived, in which channel, and how many characters it added."""

    at_s: float
    channel: Channel
    chars: int


class Timings(Frozen):
    """Seconds since the request was handed to the socket; absent where nothing of the kind arrived.

    TTFT counts the first text, reasoning or tool-call delta and `ttft_channel` names which.
    `last_text_s` is the last such delta, never the usage chunk or `[DONE]`.
    """

    ttft_s: float | None = None
    ttft_channel: Channel | None = None
    first_content_s: float | None = None
    last_text_s: float | None = None
    wall_s: float | None = None


class Response(Frozen):
    """What one exchange says. Nothing here is stripped, trimmed, defaulted or parsed out of text."""

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
    token_ids: tuple[int, ...] | None = None
    prompt_token_ids: tuple[int, ...] | None = None
    logprobs: tuple[dict[str, Json], ...] | None = None
    errors: tuple[ServerError, ...] = ()
    streamed: bool = False
    done_seen: bool = False
    deltas: tuple[Delta, ...] = ()
    timings: Timings = Timings()
    flags: tuple[str, ...] = ()
    """Facts worth knowing that change no outcome by themselves (`no_done_sentinel`, ...)."""
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


class Void(Frozen):
    """Why an exchange cannot carry a verdict. `cause` is a stable word, `message` says it in full."""

    cause: str
    message: str
