"""A breach as a clause reports it, and the adapters that hand a clause the text it judges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

from armgate.judging.subject import Subject
from armgate.judging.text import Text
from armgate.model.clauses.base import ChannelOptions


class Breach(NamedTuple):
    """`kind` is a stable word, `span` bytes of the channel, or `None` where no place can be named."""

    kind: str
    message: str
    span: tuple[int, int] | None = None
    channel: str | None = "content"


Judge = Callable[[Any, Subject], Iterable[Breach]]
"""A clause: its options and the subject give breaches, lazily and in the order of the text."""

C = TypeVar("C", bound=ChannelOptions)
TextJudge = Callable[[C, Text], Iterable[Breach]]


def at(text: Text, kind: str, message: str, start: int, end: int) -> Breach:
    """A breach at characters `start` to `end` of `text`."""
    return Breach(kind, message, text.span(start, end), text.channel)


def demands_text(judge: TextJudge[C]) -> Judge:
    """For clauses that a text must meet: a null channel breaches them."""

    def judged(options: C, subject: Subject) -> Iterator[Breach]:
        text = subject.text(options.channel)
        if text is None:
            yield Breach("null_channel", f"{options.channel} is null", None, options.channel)
        else:
            yield from judge(options, text)

    return judged


def forbids_in_text(judge: TextJudge[C]) -> Judge:
    """For clauses that forbid something: an answer with no text and no tool call shows no absence."""

    def judged(options: C, subject: Subject) -> Iterator[Breach]:
        text = subject.text(options.channel)
        if text is not None and text.value:
            yield from judge(options, text)
        elif options.channel == "content" and not subject.response.tool_calls:
            state = "null" if text is None else "empty"
            yield Breach("nothing_to_judge", f"content is {state}: there is nothing to judge", None)

    return judged


def demands_source(judge: TextJudge[C]) -> Judge:
    """For clauses with a `source`: the channel verbatim, or its only fenced block."""

    def inner(options: C, text: Text) -> Iterable[Breach]:
        if getattr(options, "source", "channel") == "channel":
            return judge(options, text)
        if text.block is None:
            return [Breach("no_single_block", "there is not exactly one closed fenced block", text.all)]
        return judge(options, text.block)

    return demands_text(inner)
