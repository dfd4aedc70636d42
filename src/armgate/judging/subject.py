"""What a contract judges: a response with what was asked for, or a bare text; channels parsed once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from armgate.judging.text import Text
from armgate.model.base import Json
from armgate.model.exchange import Exchange
from armgate.model.response import Response

REPLACEMENT = b"\xef\xbf\xbd"
"""U+FFFD in UTF-8."""


class Subject:
    """One answer under judgement. `bare` is a text alone: complete, stopped, and nothing else known."""

    def __init__(
        self,
        response: Response,
        *,
        request: Mapping[str, Json] | None = None,
        cap_tokens: int | None = None,
        body: bytes | None = None,
        bare: bool = False,
    ) -> None:
        self.response = response
        self.request: Mapping[str, Json] = request or {}
        self.cap_tokens = cap_tokens
        self.bare = bare
        self._body = body
        self._texts: dict[str, Text | None] = {}

    @classmethod
    def of_text(cls, text: str) -> Subject:
        """A bare answer."""
        return cls(Response(content=text, finish_reason="stop"), bare=True)

    @classmethod
    def of_exchange(cls, exchange: Exchange, response: Response) -> Subject:
        return cls(response, request=exchange.request, cap_tokens=exchange.cap_tokens, body=exchange.body)

    def text(self, channel: str) -> Text | None:
        """A channel's text, `None` where it is null."""
        if channel not in self._texts:
            value = self.response.channel(channel)
            self._texts[channel] = None if value is None else Text(channel, value)
        return self._texts[channel]

    @cached_property
    def tool_names(self) -> frozenset[str] | None:
        """Names of the tools that the request offers, `None` where it names none."""
        tools = self.request.get("tools")
        if not isinstance(tools, list | tuple) or not tools:
            return None
        names = [_tool_name(tool) for tool in tools]
        return frozenset(name for name in names if name is not None)

    @property
    def messages(self) -> list[Mapping[str, Json]]:
        """The messages of the request, as far as they are objects."""
        messages = self.request.get("messages")
        if not isinstance(messages, list | tuple):
            return []
        return [message for message in messages if isinstance(message, Mapping)]

    @property
    def replacements_on_the_wire(self) -> int | None:
        """How often the recorded body itself carries U+FFFD; `None` where there is no body."""
        if self._body is None:
            return None
        return self._body.count(REPLACEMENT) + self._body.lower().count(b"\\ufffd")


def _tool_name(tool: Json) -> str | None:
    """A tool's name out of OpenAI's form, a bare object or a bare name."""
    if isinstance(tool, Mapping):
        function = tool.get("function")
        tool = function.get("name") if isinstance(function, Mapping) else tool.get("name")
    return tool if isinstance(tool, str) else None
