"""Gates, their probes, and the ladder that orders them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from armgate.model.base import Frozen, Json, Name
from armgate.model.haystack import HaystackOrName, HaystackSpec, Sweep
from armgate.model.load import Arrivals, Grid, Prefix
from armgate.model.outcome import Family
from armgate.model.retries import Retries


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
        if self.haystack is not None and not self.haystack.has_length:
            raise ValueError("haystack: exactly one of target_tokens and lines")
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
    haystack: HaystackOrName | None = None
    """A recipe, or the name of one in `gates/haystacks/`."""
    ask: Literal["together", "one_each"] = "together"
    """Retrieval gates: one request for all markers, or one request (and one haystack) for each."""
    answer: Literal["text", "json_array"] = "text"
    """Retrieval gates: a text that contains the markers, or exactly a JSON array of them as asked for."""
    sweep: Sweep | None = None
    """Retrieval gates: the haystack at these lengths, its marker at these depths, by these seeds."""
    reference: Name | None = None
    requires: tuple[Name, ...] = ()
    on_failure: Literal["continue", "stop"] = "continue"
    threshold: Threshold = Threshold()
    min_samples: Annotated[int, Field(ge=1)] | None = None
    deadline_s: Annotated[float, Field(gt=0)] | None = None
    retries: Retries | None = None
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


class Drift(Frozen):
    """Repeat a gate when all others are done: what held before the load may not hold after it.

    `gate` is the first contract gate where none is named. The repeat is a gate of its own, `<gate>-again`.
    """

    gate: Name | None = None
    required: bool = False
    why: str = "a contract that held before the load has to hold after it"


class Ladder(Frozen):
    """Ordered gates. `requires` looks back only, so the order is also an order of execution."""

    schema_: Literal["armgate/ladder/v1"] = Field(alias="schema")
    id: Name
    says: str | None = None
    gates: tuple[Gate, ...] = Field(min_length=1)
    drift: Drift | None = None

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

    @model_validator(mode="after")
    def _drift_can_be_seen(self) -> Ladder:
        if self.drift is None:
            return self
        again = self.drift_gate
        if again is None:
            named = self.drift.gate
            raise ValueError(f"drift: no gate {named!r}" if named else "drift: no gate of check 'contract'")
        if self.drift.required and not again.required:
            raise ValueError(f"drift: required, and gate {again.id!r} that it repeats is advisory")
        if any(gate.id == again.id + AGAIN for gate in self.gates):
            raise ValueError(f"drift: {again.id + AGAIN!r} is the name of the repeat")
        return self

    @property
    def drift_gate(self) -> Gate | None:
        """The gate that is repeated at the end of every boot."""
        if self.drift is None:
            return None
        wanted = self.drift.gate
        fits = (g for g in self.gates if (g.check == "contract" if wanted is None else g.id == wanted))
        return next(fits, None)

    @property
    def climbed(self) -> tuple[tuple[int, Gate, Name | None], ...]:
        """The gates in their order, the repeat of `drift` last: place in the file, gate, what it repeats."""
        declared = tuple((place, gate, None) for place, gate in enumerate(self.gates))
        gate, drift = self.drift_gate, self.drift
        if gate is None or drift is None:
            return declared
        changes = {"id": gate.id + AGAIN, "required": drift.required, "why": drift.why}
        again = gate.model_copy(update={**changes, "requires": (gate.id,), "on_failure": "continue"})
        return (*declared, (self.gates.index(gate), again, gate.id))


AGAIN = "-again"
"""What a repeated gate's name ends with."""


IDENTITY = "identity"
"""The implicit required gate of every boot: pins asked = pins observed."""
