"""Putting a response together from its pieces: one choice's deltas or message, joined as they were sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from armgate.model.base import Json
from armgate.model.response import Channel, Delta, ServerError, ToolCall

REASONING_FIELDS = ("reasoning", "reasoning_content")
"""vLLM renamed the second to the first; SGLang and llama.cpp kept it; some send both at once."""

_TOP = frozenset(
    ("id", "object", "created", "model", "choices", "usage", "system_fingerprint", "service_tier", "error",
     "prompt_token_ids")
)  # fmt: skip
_CHOICE = frozenset(
    ("index", "delta", "message", "text", "finish_reason", "stop_reason", "logprobs", "token_ids",
     "prompt_token_ids")
)  # fmt: skip
_PIECE = frozenset(("role", "content", "tool_calls", *REASONING_FIELDS))


class CallPieces:
    """One tool call in the making."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.id: str | None = None
        self.name: str | None = None
        self.arguments: list[str] | None = None

    def joined(self) -> ToolCall:
        arguments = None if self.arguments is None else "".join(self.arguments)
        return ToolCall(index=self.index, id=self.id, name=self.name, arguments=arguments)


class Assembly:
    """Takes the objects of one exchange in order; whatever does not fit the protocol is noted, not raised."""

    def __init__(self) -> None:
        self.content: list[str] | None = None
        self.reasoning: list[str] | None = None
        self.reasoning_fields: list[str] = []
        self.calls: list[CallPieces] = []
        self.finish_reason: str | None = None
        self.finish_s: float | None = None
        self.stop_reason: Json = None
        self.usage: dict[str, Json] | None = None
        self.usage_reports = 0
        self.model: str | None = None
        self.system_fingerprint: str | None = None
        self.token_ids: list[int] | None = None
        self.prompt_token_ids: list[int] | None = None
        self.logprobs: list[dict[str, Json]] | None = None
        self.errors: list[ServerError] = []
        self.unreadable: list[str] = []
        self.deltas: list[Delta] = []
        self.flags: set[str] = set()
        self.raw: dict[str, Json] = {}
        self._tokens: int | None = None

    def take(self, obj: dict[str, Json], at_s: float | None) -> None:
        """One chunk of a stream, or the whole body; `at_s` is `None` where there is no arrival time."""
        self._take_figures(obj)
        choices = obj.get("choices")
        if choices is None:
            return
        if not isinstance(choices, list):
            self.unreadable.append("choices is not a list")
            return
        for choice in choices:
            if not isinstance(choice, dict):
                self.unreadable.append("a choice is not an object")
            elif choice.get("index") in (0, None):
                self._take_choice(choice, at_s)
            else:
                self.flags.add("several_choices")

    def _take_figures(self, obj: dict[str, Json]) -> None:
        usage = obj.get("usage")
        if isinstance(usage, dict):
            self.usage = usage
            self.usage_reports += 1
        self.model = _text_or(obj.get("model"), self.model)
        if "system_fingerprint" in obj:
            self.system_fingerprint = _text_or(obj["system_fingerprint"], self.system_fingerprint)
        if "prompt_token_ids" in obj:
            self._take_prompt_ids(obj["prompt_token_ids"])
        if not obj.keys() <= _TOP:
            self._keep_unknown(obj, _TOP)

    def _keep_unknown(self, obj: Mapping[str, Json], known: frozenset[str]) -> None:
        for name in obj.keys() - known:
            if obj[name] is not None:
                self.raw[name] = obj[name]

    def _take_prompt_ids(self, ids: Json) -> None:
        if ids and self.prompt_token_ids is None and _are_token_ids(ids):
            self.prompt_token_ids = ids

    def _take_choice(self, choice: dict[str, Json], at_s: float | None) -> None:
        if choice.get("token_ids") is not None:
            self._take_ids(choice["token_ids"])
        piece = choice.get("delta", choice.get("message"))
        if isinstance(piece, dict):
            self._take_piece(piece, at_s)
        elif piece is not None:
            self.unreadable.append("a delta or message is not an object")
        elif "text" in choice:
            self._take_content(choice["text"], at_s)
        self._take_end(choice, at_s)
        if choice.get("logprobs") is not None:
            self._take_logprobs(choice["logprobs"])
        if "prompt_token_ids" in choice:
            self._take_prompt_ids(choice["prompt_token_ids"])
        if not choice.keys() <= _CHOICE:
            self._keep_unknown(choice, _CHOICE)

    def _take_ids(self, ids: Json) -> None:
        if not _are_token_ids(ids):
            self.flags.add("token_ids_unreadable")
            return
        # Ids that came without text (half a character) count with the text that follows them.
        self._tokens = (self._tokens or 0) + len(ids)
        self.token_ids = [] if self.token_ids is None else self.token_ids
        self.token_ids.extend(ids)

    def _take_end(self, choice: dict[str, Json], at_s: float | None) -> None:
        reason = choice.get("finish_reason")
        if reason is None:
            pass
        elif reason == "":
            # SGLang and Ollama versions send "" where the protocol has null.
            self.flags.add("empty_finish_reason")
        elif isinstance(reason, str):
            if self.finish_reason not in (None, reason):
                self.flags.add("finish_reason_changed")
            self.finish_reason = reason
            self.finish_s = at_s if self.finish_s is None else self.finish_s
        else:
            self.unreadable.append("finish_reason is not text")
        stop = choice.get("stop_reason", choice.get("matched_stop"))
        if stop is not None:
            self.stop_reason = stop

    def _take_piece(self, piece: dict[str, Json], at_s: float | None) -> None:
        if "reasoning" in piece or "reasoning_content" in piece:
            self._take_reasoning(piece, at_s)
        if "content" in piece:
            self._take_content(piece["content"], at_s)
        if piece.get("tool_calls") is not None:
            self._take_calls(piece["tool_calls"], at_s)
        if not piece.keys() <= _PIECE:
            self._keep_unread(piece)

    def _keep_unread(self, piece: dict[str, Json]) -> None:
        for name in piece.keys() - _PIECE:
            if piece[name]:
                self.raw[name] = piece[name]
                self.flags.add(f"unread_field:{name[:40]}")

    def _take_reasoning(self, piece: dict[str, Json], at_s: float | None) -> None:
        taken: str | None = None
        for name in REASONING_FIELDS:
            text = piece.get(name)
            if text is None:
                continue
            if not isinstance(text, str):
                self.unreadable.append(f"{name} is not text")
                continue
            if text and name not in self.reasoning_fields:
                self.reasoning_fields.append(name)
            if taken is None:
                taken = text
                self.reasoning = self._add(self.reasoning, text, Channel.REASONING, at_s)
            elif taken != text:
                self.flags.add("reasoning_fields_differ")

    def _take_content(self, content: Json, at_s: float | None) -> None:
        if isinstance(content, str):
            self.content = self._add(self.content, content, Channel.CONTENT, at_s)
        elif isinstance(content, list):
            for part in content:
                self._take_part(part, at_s)
        elif content is not None:
            self.unreadable.append("content is not text")

    def _take_part(self, part: Json, at_s: float | None) -> None:
        """A content part: text, or Mistral's thinking part, whose text is a list of parts again."""
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            self.content = self._add(self.content, part["text"], Channel.CONTENT, at_s)
            return
        inner = part.get("thinking") if isinstance(part, dict) else None
        texts = [inner] if isinstance(inner, str) else [p.get("text") for p in _dicts(inner)]
        if not texts or not all(isinstance(text, str) for text in texts):
            self.unreadable.append("a content part is neither text nor thinking")
            return
        if "content.thinking" not in self.reasoning_fields:
            self.reasoning_fields.append("content.thinking")
        for text in texts:
            self.reasoning = self._add(self.reasoning, str(text), Channel.REASONING, at_s)

    def _take_calls(self, calls: Json, at_s: float | None) -> None:
        if not isinstance(calls, list):
            self.unreadable.append("tool_calls is not a list")
            return
        for call in calls:
            self._take_call(call, at_s)

    def _take_call(self, call: Json, at_s: float | None) -> None:
        if not isinstance(call, dict):
            self.unreadable.append("a tool call is not an object")
            return
        function = call.get("function")
        function = function if isinstance(function, dict) else {}
        pieces = self._call_for(call, function)
        pieces.id = _text_or(pieces.id, call.get("id"))
        name, arguments = _text_or(function.get("name"), None), function.get("arguments")
        if pieces.name is None:
            pieces.name = name
        elif name and name != pieces.name:
            self.flags.add("tool_name_changed")
        if isinstance(arguments, str):
            pieces.arguments = [] if pieces.arguments is None else pieces.arguments
            pieces.arguments.append(arguments)
        elif arguments is not None:
            # The protocol has a string of JSON here; an object has no bytes that could be judged.
            self.flags.add("arguments_not_text")
        added = arguments if isinstance(arguments, str) else ""
        self._note(Channel.TOOL_CALLS, len(name or "") + len(added), at_s)

    def _call_for(self, call: dict[str, Json], function: dict[str, Json]) -> CallPieces:
        """The call that a piece belongs to, by index; another id and name under one index is another call."""
        index, ident = call.get("index"), call.get("id")
        known = [c for c in self.calls if c.index == index] if type(index) is int else self.calls
        last = known[-1] if known else None
        if last is not None and (not ident or last.id in (None, ident) or not function.get("name")):
            return last
        if last is not None and type(index) is int:
            self.flags.add("tool_index_reused")
        pieces = CallPieces(index if type(index) is int else len(self.calls))
        self.calls.append(pieces)
        return pieces

    def _add(self, kept: list[str] | None, text: str, channel: Channel, at_s: float | None) -> list[str]:
        kept = [] if kept is None else kept
        kept.append(text)
        self._note(channel, len(text), at_s)
        return kept

    def _note(self, channel: Channel, chars: int, at_s: float | None) -> None:
        if not chars:
            return
        if self.finish_reason is not None and at_s is not None:
            self.flags.add("text_after_finish")
        if at_s is not None:
            self.deltas.append(Delta(at_s, channel, chars, self._tokens))
            self._tokens = None if self._tokens is None else 0

    def _take_logprobs(self, logprobs: Json) -> None:
        if not isinstance(logprobs, dict):
            return
        entries = logprobs.get("content")
        if entries is None and isinstance(logprobs.get("tokens"), list):
            entries = _legacy_logprobs(logprobs)
        if isinstance(entries, list):
            self.logprobs = [] if self.logprobs is None else self.logprobs
            self.logprobs.extend(_dicts(entries))


def _legacy_logprobs(logprobs: dict[str, Json]) -> list[dict[str, Json]]:
    """The parallel lists of /v1/completions as one entry per token."""
    names = {"tokens": "token", "token_logprobs": "logprob", "top_logprobs": "top_logprobs"}
    columns = {new: logprobs[old] for old, new in names.items() if isinstance(logprobs.get(old), list)}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=False)]


def _are_token_ids(ids: Json) -> bool:
    return isinstance(ids, list) and all(type(i) is int for i in ids)


def _dicts(values: Any) -> Iterable[dict[str, Json]]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def _text_or(value: Json, otherwise: str | None) -> str | None:
    return value if isinstance(value, str) and value else otherwise
