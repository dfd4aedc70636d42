"""What a probe sends: planned messages, or a haystack built with the server's own token counts."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from armgate.campaign.counting import PromptCounter, count_request, prompt_counter
from armgate.client.tokens import CountUnavailable
from armgate.errors import UsageError
from armgate.loading.haystack import build_haystack
from armgate.loading.haystacks import corpus_text
from armgate.model.base import Json
from armgate.model.gates import Probe
from armgate.model.haystack import CorpusFiller, CountCheck, HaystackSpec
from armgate.model.plan import PlannedProbe

if TYPE_CHECKING:
    from armgate.campaign.gate import GateRunner

OPENING_TOKENS = 8
"""At most, of the words before a fresh prefix's drawn part and of digits that happen to agree."""

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


@dataclasses.dataclass(frozen=True)
class Sending:
    """Which request of a gate is being made."""

    gate: str
    probe: Probe
    spec: PlannedProbe
    role: str
    n: int

    @property
    def salt(self) -> str:
        """Of a haystack's fresh prefix: no two probes of a boot share one."""
        return f"{self.gate}/{self.probe.id}"


async def prepare_all(
    runner: GateRunner, gate: str, spec: PlannedProbe, probe: Probe, role: str, numbers: Sequence[int]
) -> list[Prepared]:
    """Requests of one batch, made before the first of them is sent. Alike ones are made once."""
    if probe.prefix is None or probe.prefix.cache == "warm":
        return [await prepare(runner, Sending(gate, probe, spec, role, 0))] * len(numbers)
    return [await prepare(runner, Sending(gate, probe, spec, role, n)) for n in numbers]


async def prepare(runner: GateRunner, sending: Sending) -> Prepared:
    """Everything that depends on the server: the haystack's text, and `max_tokens: window`.

    Raises NotSent where the prompt is known not to fit the promised window, or nothing can count it.
    """
    probe, role, n = sending.probe, sending.role, sending.n
    context: dict[str, Json] = {}
    if sending.spec.messages is None:
        messages, context = await _haystack(runner, sending)
    else:
        messages = sending.spec.messages
        if probe.prefix is not None:
            messages = _prefixed(messages, probe.prefix.line(role, n))
            context["template_tokens"] = await _template_tokens(runner, probe)
        if isinstance(probe.max_tokens, int):
            return Prepared(tuple(messages), probe.max_tokens, context)
        context["prompt_tokens"] = await _count(runner, messages, probe)
    counter = await _counter(runner)
    context |= {"counted_by": counter.by, "count_check": counter.check.model_dump(mode="json")}
    context |= {"promised_window": promised_window(runner), "window": runner.window}
    cap = _cap(runner, probe, counter.check, context["prompt_tokens"])
    return Prepared(tuple(messages), cap, context)


def _prefixed(messages: Messages, line: str) -> Messages:
    """The line before everything else that the first message says."""
    first = messages[0]
    content = first.get("content")
    if not isinstance(content, str):
        raise NotSent("prefix_impossible", "the first message has no text to put a prefix before")
    return [{**first, "content": f"{line}\n{content}"}, *messages[1:]]


async def _template_tokens(runner: GateRunner, probe: Probe) -> int:
    """Tokens that the chat template adds to every prompt, and that a cache may hold of a fresh one; 0 where
    nothing can count."""
    key = probe.system
    if key not in runner.template_tokens:
        with contextlib.suppress(NotSent):
            counted = await _count(runner, [{"role": "user", "content": "x"}], probe)
            runner.template_tokens[key] = counted - 1 + OPENING_TOKENS
    return runner.template_tokens.get(key, 0)


async def _counter(runner: GateRunner) -> PromptCounter:
    """One counter for a boot: two ways to count would give two lengths."""
    if runner.counter is None:
        try:
            runner.counter = await prompt_counter(runner)
        except CountUnavailable as error:
            raise NotSent("count_unavailable", str(error)) from None
    return runner.counter


async def _count(runner: GateRunner, messages: Messages, probe: Probe) -> int:
    counter = await _counter(runner)
    try:
        return await counter.count(count_request(runner, list(messages), list(probe.tools)))
    except CountUnavailable as error:
        raise NotSent("count_unavailable", str(error)) from None


def promised_window(runner: GateRunner) -> int | None:
    """The context that the arm's settings promise; without such a setting what the server says it serves."""
    return runner.arm.window_tokens or runner.window


def _cap(runner: GateRunner, probe: Probe, check: CountCheck, prompt_tokens: int) -> int:
    """The answer's cap. What is known not to fit the promised window is not sent.

    `window` leaves room for a counter that the server does not agree with: ours would be the overflow.
    """
    promised = promised_window(runner)
    if probe.max_tokens == "window" and promised is None:
        raise NotSent("window_unknown", "the server does not say how long its context is")
    answer = probe.max_tokens if isinstance(probe.max_tokens, int) else 1
    if promised is not None and prompt_tokens + answer > promised:
        message = f"{prompt_tokens} prompt tokens and {answer} of answer in a window of {promised}"
        raise NotSent("exceeds_context", message)
    if isinstance(probe.max_tokens, int):
        return probe.max_tokens
    window = min(promised or 0, runner.window or promised or 0)
    return max(window - check.most_served(prompt_tokens), 1)


async def _haystack(runner: GateRunner, sending: Sending) -> tuple[Messages, dict[str, Json]]:
    probe = sending.probe
    assert probe.haystack is not None
    spec = _with_length(runner, probe, probe.haystack)
    if probe.prefix is not None:
        seed = probe.prefix.seed_of(sending.role, sending.n)
        spec = spec.model_copy(update={"seed": seed, "fresh_prefix": True})

    def messages(text: str) -> list[dict[str, Json]]:
        system = [{"role": "system", "content": probe.system}] if probe.system is not None else []
        return [*system, {"role": "user", "content": text}]

    async def count(text: str) -> int:
        return await _count(runner, messages(text), probe)

    try:
        corpus = await asyncio.to_thread(_corpus, runner, spec)
        built = await build_haystack(spec, count, corpus, sending.salt)
    except UsageError as error:
        raise NotSent("haystack_not_built", str(error)) from None
    context = built.model_dump(mode="json", exclude={"text", "counted_tokens"})
    context |= {"prompt_tokens": built.counted_tokens, "seed": spec.seed}
    context |= {"template_tokens": built.overhead_tokens + OPENING_TOKENS}
    return messages(built.text), context


def _with_length(runner: GateRunner, probe: Probe, spec: HaystackSpec) -> HaystackSpec:
    """The recipe with `window` as a number: the promised window, less the answer's cap."""
    if spec.target_tokens != "window":
        return spec
    promised = promised_window(runner)
    if promised is None:
        raise NotSent("window_unknown", "the server does not say how long its context is")
    answer = probe.max_tokens if isinstance(probe.max_tokens, int) else 1
    target = promised - answer - spec.tolerance_tokens
    if target < 1:
        raise NotSent("exceeds_context", f"{answer} tokens of answer leave nothing of a window of {promised}")
    return spec.model_copy(update={"target_tokens": target})


def _corpus(runner: GateRunner, spec: HaystackSpec) -> str | None:
    if not isinstance(spec.filler, CorpusFiller):
        return None
    return corpus_text(runner.setting.workspace, spec.filler)
