"""Clauses about the response around its text: how it ended, whether it answered, whether it reasoned."""

from __future__ import annotations

from collections.abc import Iterator

from armgate.judging.clauses.breach import Breach
from armgate.judging.subject import Subject
from armgate.judging.text import Text
from armgate.model.clauses.response import Answered, Finish, Reasoning


def finish(options: Finish, subject: Subject) -> Iterator[Breach]:
    reason = subject.response.finish_reason
    if reason not in options.reasons:
        kind = "length_stop" if reason == "length" else "other_reason"
        message = f"finish reason {reason!r}, expected {' or '.join(map(repr, options.reasons))}"
        yield Breach(kind, message, None, None)
    elif options.below_cap and subject.response.effective_stop(subject.cap_tokens) == "length":
        assert subject.response.usage is not None
        used = subject.response.usage.completion_tokens
        message = (
            f"{used} tokens reached the cap of {subject.cap_tokens}, though the finish reason is {reason!r}"
        )
        yield Breach("at_cap", message, None, None)


def answered(options: Answered, subject: Subject) -> Iterator[Breach]:
    content = subject.response.content
    if content is None or not content.strip():
        kind, state = ("null_channel", "null") if content is None else ("empty", "empty")
        if content:
            state = "white space alone"
        text = subject.text("content")
        yield Breach(kind, f"content is {state}", text.all if text else None)


def reasoning(options: Reasoning, subject: Subject) -> Iterator[Breach]:
    text = subject.text("reasoning")
    there = text is not None and bool(text.value.strip())
    if options.presence == "forbidden":
        if text is not None and there:
            message = f"{len(text.value)} characters of reasoning, expected none"
            yield Breach("present", message, text.all, "reasoning")
        return
    if text is None or not there:
        yield Breach("absent", "no reasoning in its channel", None, "reasoning")
        return
    yield from _measured(options, text)


def _measured(options: Reasoning, text: Text) -> Iterator[Breach]:
    if options.characters is not None and not options.characters.holds(len(text.value)):
        message = f"{len(text.value)} characters of reasoning, expected {options.characters}"
        yield Breach("characters", message, text.all, "reasoning")
