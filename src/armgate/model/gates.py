"""Gates, their probes, and the ladder that orders them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from armgate.model.base import Frozen, Json, Name
from armgate.model.haystack import HaystackSpec
from armgate.model.load import Arrivals, Grid, Prefix
from armgate.model.outcome import Family


class Probe(Frozen):
    """One request, told apart by `id` within its gate. One source:
    `prompt`, `template` (a path in the workspace), `messages` or `haystack`.

    `max_tokens` is a count, or `window`: what the served window leaves after the prompt.
    `samples` repeats the probe; `warm_up` sends it that many times first, recorded and never judged.
    """

    id: Name
    kind: Name | None = None
    """Kind of prompt, for measurements; its own id where none is given. Kinds are never pooled."""
    prompt: str | None = None
    template: str | None = None
    messages: tuple[dict[str, Json], ...] | None = None
    haystack: HaystackSpec | None = None
    """A recipe; its text is built when the server can count tokens, and recorded with the exchange."""
    system: str | None = None
    variables: dict[str, Json] = {}
    max_tokens: Annotated[int, Field(ge=1)] | Literal["window"] = 256
    samples: Annotated[int, Field(ge=1, le=1000)] = 1
    warm_up: Annotated[int, Field(ge=0, le=100)] = 0
    concurrency: Annotated[int, Field(ge=1, le=256)] = 1
    """Samples are sent in batches of so many at a time; a batch begins when the one before has ended."""
    arrivals: Arrivals | None = None
    """Sends the samples on a schedule instead, however many are then under way."""
    prefix: Prefix | None = None
    context_depth: Annotated[int, Field(ge=0)] | None = None
    """Tokens of context before the prompt, for measurements over depths."""
    sampling: dict[str, Json] = {}
    tools: tuple[dict[str, Json], ...] = ()
    body: dict[str, Json] = {}
    """Engine-specific keys laid at the top level of the request body."""
    stream: bool = True
    contract: Name | None = None
    """Overrides the gate's contract for this probe."""

    @model_validator(mode="after")
    def _has_one_source(self) -> Probe:
        sources = (self.prompt, self.template, self.messages, self.haystack)
        if sum(source is not None for source in sources) != 1:
            raise ValueError("exactly one of prompt, template, messages, haystack")
        refuse_library_keys(self.body)
        return self

    @model_validator(mode="after")
    def _is_sent_in_one_way(self) -> Probe:
        if self.samples % self.concurrency:
            raise ValueError(f"{self.samples} samples are no whole batches of {self.concurrency}")
        if self.arrivals is not None and self.concurrency > 1:
            raise ValueError("arrivals and concurrency: a schedule sends whatever is under way")
        if self.prefix is not None and self.prefix.cache == "warm" and not self.warm_up:
            raise ValueError("prefix: a warm cache needs a warm_up that fills it")
        return self


def refuse_library_keys(body: dict[str, Json]) -> None:
    """`extra_body` is an argument of a client library; on the wire a server ignores it without a word."""
    if "extra_body" in body:
        raise ValueError("extra_body is no key of a request; put its keys here directly")


class Threshold(Frozen):
    """What a gate asks of its samples or its measurement. `passes` defaults to all samples."""

    passes: Annotated[int, Field(ge=1)] | None = None
    at_least: dict[str, float] = {}
    at_most: dict[str, float] = {}


class Gate(Frozen):
    """One entry of a ladder."""

    id: Name
    check: str
    family: Family | None = None
    required: bool
    why: str
    probes: tuple[Probe, ...] = ()
    grid: Grid | None = None
    """Probes in the form of a table; the plan holds them written out instead."""
    body: dict[str, Json] = {}
    """Engine-specific request keys for all probes of this gate; a probe's own `body` is laid over it."""
    contract: Name | None = None
    task: Name | None = None
    extract: Literal["content", "fenced_block"] | None = None
    """Code gates: what text is run. `content` is the channel verbatim."""
    haystack: HaystackSpec | None = None
    ask: Literal["together", "one_each"] = "together"
    """Retrieval gates: one request for all markers, or one request (and one haystack) for each."""
    reference: Name | None = None
    requires: tuple[Name, ...] = ()
    on_failure: Literal["continue", "stop"] = "continue"
    threshold: Threshold = Threshold()
    min_samples: Annotated[int, Field(ge=1)] | None = None
    deadline_s: Annotated[float, Field(gt=0)] | None = None
    required_tier: Literal["container+gvisor", "container", "namespaces", "process"] | None = None
    options: dict[str, Json] = {}

    @model_validator(mode="after")
    def _probes_have_ids_of_their_own(self) -> Gate:
        ids = [probe.id for probe in self.probes]
        doubled = sorted({i for i in ids if ids.count(i) > 1})
        if doubled:
            raise ValueError(f"probe ids used twice: {', '.join(doubled)}")
        refuse_library_keys(self.body)
        if self.grid is not None and (self.probes or self.haystack is not None):
            raise ValueError("a grid makes all probes of its gate: no probes and no haystack beside it")
        if self.on_failure == "stop" and not self.required:
            raise ValueError("on_failure: stop on an advisory gate; only a required gate may stop the ladder")
        return self


class Ladder(Frozen):
    """Ordered gates. `requires` looks back only, so the order is also an order of execution."""

    schema_: Literal["armgate/ladder/v1"] = Field(alias="schema")
    id: Name
    says: str | None = None
    gates: tuple[Gate, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _holds_together(self) -> Ladder:
        seen: dict[str, Gate] = {}
        for gate in self.gates:
            if gate.id in seen or gate.id == IDENTITY:
                raise ValueError(
                    f"gate {gate.id!r} is declared twice"
                    if gate.id in seen
                    else f"{IDENTITY!r} is the implicit first gate and cannot be declared"
                )
            for needed in gate.requires:
                if needed not in seen and needed != IDENTITY:
                    raise ValueError(f"gate {gate.id!r} requires {needed!r}, which is no gate before it")
                if gate.required and needed in seen and not seen[needed].required:
                    raise ValueError(f"required gate {gate.id!r} requires the advisory gate {needed!r}")
            seen[gate.id] = gate
        if not any(gate.required for gate in self.gates):
            raise ValueError("a ladder without a required gate accepts everything")
        return self


IDENTITY = "identity"
"""The implicit required gate of every boot: pins asked = pins observed."""
