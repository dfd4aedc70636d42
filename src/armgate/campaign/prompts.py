"""What a probe sends: planned messages, or a haystack built with the server's own token counts."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from armgate.client.tokens import CountUnavailable, count_prompt_tokens
from armgate.loading.haystack import build_haystack
from armgate.model.base import Json
from armgate.model.gates import Probe
from armgate.model.haystack import CorpusFiller, HaystackSpec
from armgate.model.plan import PlannedProbe

if TYPE_CHECKING:
    from armgate.campaign.gate import GateRunner

Messages = Sequence[dict[str, Json]]


class NotSent(Exception):  # noqa: N818 - a condition of the ladder, told as a skip
    """A probe that cannot be made or would be pointless to send. `because_of` is a stable word."""

    def __init__(self, because_of: str, message: str) -> None:
        self.because_of = because_of
        super().__init__(message)


@dataclasses.dataclass(frozen=True)
class Prepared:
    """The messages and cap of one probe, and what was known when they were made."""

    messages: tuple[dict[str, Json], ...]
    max_tokens: int
    context: dict[str, Json]


async def prepare_all(
    runner: GateRunner, probe: Probe, spec: PlannedProbe, role: str, numbers: Sequence[int]
) -> list[Prepared]:
    """Requests of one batch, made before the first of them is sent. Alike ones are made once."""
    if probe.prefix is None or probe.prefix.cache == "warm":
        return [await prepare(runner, probe, spec, role)] * len(numbers)
    return [await prepare(runner, probe, spec, role, n) for n in numbers]


async def prepare(
    runner: GateRunner, probe: Probe, spec: PlannedProbe, role: str = "sample", n: int = 0
) -> Prepared:
    """Everything that depends on the server: the haystack's text, and `max_tokens: window`."""
    context: dict[str, Json] = {}
    messages: Messages
    if spec.messages is not None:
        messages = spec.messages
    else:
        messages, context = await _haystack(runner, probe, role, n)
        _fits(runner, probe, context["prompt_tokens"])
    if probe.prefix is not None:
        messages = messages if probe.haystack is not None else _prefixed(messages, probe.prefix.line(role, n))
        context = {**context, "template_tokens": await _template_tokens(runner, probe)}
    if probe.max_tokens != "window":
        return Prepared(tuple(messages), probe.max_tokens, context)
    counted = context.get("prompt_tokens") or await _count(runner, messages)
    if runner.window is None:
        raise NotSent("window_unknown", "the server does not say how long its context is")
    context = {**context, "prompt_tokens": counted, "counted_by": "/tokenize", "window": runner.window}
    return Prepared(tuple(messages), runner.window - counted, context)


def _prefixed(messages: Messages, line: str) -> Messages:
    """The line before everything else that the first message says."""
    first = messages[0]
    content = first.get("content")
    if not isinstance(content, str):
        raise NotSent("prefix_impossible", "the first message has no text to put a prefix before")
    return [{**first, "content": f"{line}\n{content}"}, *messages[1:]]


async def _template_tokens(runner: GateRunner, probe: Probe) -> int:
    """Tokens that the chat template adds to every prompt, and that a cache may hold of a fresh one; 0 where
    the server cannot count."""
    key = probe.system
    if key not in runner.template_tokens:
        system = [{"role": "system", "content": key}] if key is not None and probe.haystack else []
        with contextlib.suppress(NotSent):
            counted = await _count(runner, [*system, {"role": "user", "content": "x"}])
            runner.template_tokens[key] = counted - 1
    return runner.template_tokens.get(key, 0)


async def _count(runner: GateRunner, messages: Messages) -> int:
    try:
        return await count_prompt_tokens(runner.http, runner.server.url, runner.model_id, messages)
    except CountUnavailable as error:
        raise NotSent("count_unavailable", str(error)) from None


def _fits(runner: GateRunner, probe: Probe, prompt_tokens: int) -> None:
    """What is known not to fit the window that the arm promises is not sent."""
    promised = runner.arm.serve.get("max_model_len", runner.window)
    answer = probe.max_tokens if isinstance(probe.max_tokens, int) else 1
    if isinstance(promised, int) and prompt_tokens + answer > promised:
        message = f"{prompt_tokens} prompt tokens and {answer} of answer in a window of {promised}"
        raise NotSent("exceeds_context", message)


async def _haystack(runner: GateRunner, probe: Probe, role: str, n: int) -> tuple[Messages, dict[str, Json]]:
    assert probe.haystack is not None
    spec = probe.haystack
    if probe.prefix is not None:
        seed = probe.prefix.seed_of(role, n)
        spec = spec.model_copy(update={"seed": seed, "fresh_prefix": True})

    def messages(text: str) -> list[dict[str, Json]]:
        system = [{"role": "system", "content": probe.system}] if probe.system is not None else []
        return [*system, {"role": "user", "content": text}]

    async def count(text: str) -> int:
        return await _count(runner, messages(text))

    built = await build_haystack(spec, count, _corpus(runner, spec))
    context = built.model_dump(mode="json", exclude={"text", "counted_tokens"})
    context |= {"prompt_tokens": built.counted_tokens, "counted_by": "/tokenize", "seed": spec.seed}
    return messages(built.text), context


def _corpus(runner: GateRunner, spec: HaystackSpec) -> str | None:
    if not isinstance(spec.filler, CorpusFiller):
        return None
    return runner.setting.workspace.path(spec.filler.file).read_text("utf-8")
