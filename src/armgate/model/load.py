"""How requests meet a server: arrivals in time, what its prefix cache may hold, and grids of such probes."""

from __future__ import annotations

import hashlib
import random
from itertools import accumulate
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from armgate.model.base import Frozen, Json
from armgate.model.haystack import Filler, ProseFiller

ShortName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,39}$")]
"""A name that leaves room for what a grid appends to it."""

CacheState = Literal["fresh", "warm"]

WORDS_OF_A_PREFIX = 6


class Arrivals(Frozen):
    """An open-loop schedule: each request is sent at its instant, whatever has become of those before it.

    `poisson` draws exponential gaps of mean 1/`per_s` from `seed`; `fixed` spaces them evenly.
    """

    process: Literal["poisson", "fixed"]
    per_s: Annotated[float, Field(gt=0, le=10_000)]
    seed: int = 1

    def offsets_s(self, n: int) -> tuple[float, ...]:
        """Seconds from the first request to each of `n`, the first at 0; the same in every arm."""
        if self.process == "fixed":
            return tuple(i / self.per_s for i in range(n))
        chance = random.Random(f"{self.seed}:arrivals")  # noqa: S311 - repeatable, not secret
        return tuple(accumulate((chance.expovariate(self.per_s) for _ in range(n - 1)), initial=0.0))


class Prefix(Frozen):
    """What a prefix cache is meant to hold of a probe's requests; what it held is checked in the answers.

    `fresh`: each request begins with a line of its own, drawn from `seed`, so nothing but the chat
    template's own tokens can be cached. `warm`: all requests of the probe begin with the same line, and
    its warm-ups have filled the cache. Arms draw the same lines.
    """

    cache: CacheState
    seed: int = 1

    def seed_of(self, role: str, n: int) -> int:
        """The seed of one request's line: its own where fresh, the probe's where warm."""
        return self.seed if self.cache == "warm" else derived_seed(self.seed, role, n)

    def line(self, role: str, n: int) -> str:
        chance = random.Random(f"{self.seed_of(role, n)}:prefix")  # noqa: S311 - repeatable, not secret
        return "Copy " + " ".join(f"{chance.getrandbits(32):08x}" for _ in range(WORDS_OF_A_PREFIX)) + "."


def derived_seed(*parts: object) -> int:
    """A seed of 31 bits that follows from `parts` alone."""
    text = ":".join(map(str, parts)).encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:4], "big") >> 1


class GridPrompt(Frozen):
    """One prompt of a grid: a text or a template in the workspace."""

    id: ShortName
    kind: ShortName | None = None
    """Kind of prompt; its own id where none is given."""
    prompt: str | None = None
    template: str | None = None
    variables: dict[str, Json] = {}

    @model_validator(mode="after")
    def _has_one_source(self) -> GridPrompt:
        if (self.prompt is None) == (self.template is None):
            raise ValueError("exactly one of prompt and template")
        return self


class Grid(Frozen):
    """Probes written as a table: prompts x context depths x cache states x concurrencies x runs.

    At each point `runs` batches of as many requests as the concurrency says are sent. An input is
    `context_depth + input_tokens` tokens long by the server's own count, chat template included; without
    depths the prompts are sent as they are. `output_tokens` fixes the length (end of text is ignored, and
    another length fails); `max_tokens` lets the answer end by itself.
    """

    prompts: tuple[GridPrompt, ...] = Field(min_length=1)
    context_depths: tuple[Annotated[int, Field(ge=0)], ...] = ()
    input_tokens: Annotated[int, Field(ge=1)] = 512
    concurrency: tuple[Annotated[int, Field(ge=1, le=256)], ...] = (1,)
    cache: tuple[CacheState, ...] = ()
    runs: Annotated[int, Field(ge=1, le=100)]
    warm_up: Annotated[int, Field(ge=0, le=100)] = 0
    """Requests before the measured ones of each point: sent, kept on file, and in no figure."""
    output_tokens: Annotated[int, Field(ge=1)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    stream: bool = True
    seed: int = 1
    filler: Filler = ProseFiller()

    @model_validator(mode="after")
    def _holds_together(self) -> Grid:
        if (self.output_tokens is None) == (self.max_tokens is None):
            raise ValueError("exactly one of output_tokens (fixed) and max_tokens (natural)")
        axes = {
            "prompts": [prompt.id for prompt in self.prompts],
            "context_depths": self.context_depths,
            "concurrency": self.concurrency,
            "cache": self.cache,
        }
        for axis, values in axes.items():
            if len(set(values)) != len(values):
                raise ValueError(f"{axis}: a value occurs twice")
        if "warm" in self.cache and not self.warm_up:
            raise ValueError("cache: warm needs a warm_up that fills the cache")
        if self.context_depths and any(prompt.template for prompt in self.prompts):
            raise ValueError("prompts of a grid with context_depths are texts, not templates")
        return self
