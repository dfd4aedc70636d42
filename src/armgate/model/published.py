"""Evidence that others published: probes of an arm, each figure with where it comes from."""

from __future__ import annotations

from enum import StrEnum

from armgate.model.base import Frozen, Json
from armgate.model.comparison import Comparison, Pooled
from armgate.model.exchange import Exchange
from armgate.model.measures import PairComparison
from armgate.model.response import Response


class Origin(StrEnum):
    """Where a figure comes from."""

    STREAM = "recomputed from the published stream"
    PUBLISHED = "published, not re-derivable"


class Figure(Frozen):
    """One figure of a published probe. `value` is `None` where neither source has it."""

    value: float | None
    origin: Origin
    file: str | None
    published: float | None = None
    """What the authors printed, where the figure was recomputed."""


class PublishedProbe(Frozen):
    """One probe of one arm. Without a stream, `exchange` is `None` and the response is what was printed.

    An exchange rebuilt from parsed events has their times and content, and not the bytes of the wire; its
    `[DONE]` stands at the published wall time if the authors saw one.
    """

    label: str
    response: Response
    exchange: Exchange | None
    ttft_s: Figure
    wall_s: Figure
    decode_tok_s: Figure
    """(N-1)/(wall-TTFT): what the authors' figures follow, whatever their text says of N."""
    end_to_end_tok_s: Figure
    """N/wall."""
    files: tuple[str, ...]


class Contradiction(Frozen):
    """Two published files that disagree, and which of them was used."""

    what: str
    used: Json
    used_from: str
    other: Json
    other_from: str


class PublishedArm(Frozen):
    name: str
    probes: dict[str, PublishedProbe]
    strict_failures: tuple[dict[str, Json], ...]
    flags: dict[str, Json]
    contradictions: tuple[Contradiction, ...] = ()


class PublishedRow(Frozen):
    """One request of a published table. Rows of one `prompt` are the same prompt sent again."""

    label: str
    prompt: str
    kind: str
    completion_tokens: int
    ttft_s: float
    wall_s: float
    published_tok_s: float

    @property
    def decode_wall_rest(self) -> float:
        """(N-1)/(wall-TTFT)."""
        return (self.completion_tokens - 1) / (self.wall_s - self.ttft_s)


class PublishedVariant(Frozen):
    name: str
    depth: int
    qualified: bool
    reasons: tuple[str, ...]
    rows: tuple[PublishedRow, ...]
    drafts: int | None
    draft_tokens: int | None
    accepted_tokens: int | None
    published_median: float


class PublishedTable(Frozen):
    reference: str
    variants: tuple[PublishedVariant, ...]


class PublishedControl(Frozen):
    """One prompt that a variant was sent twice, at temperature 0, in one boot: its answers compared."""

    variant: str
    prompt: str
    completion_tokens: tuple[int, ...]
    pair: PairComparison | None
    """`None` where the texts were not published: then only the counts can tell."""

    @property
    def repeated_itself(self) -> bool:
        """A count that differs settles it; equal counts settle nothing without the texts."""
        same_counts = len(set(self.completion_tokens)) == 1
        return same_counts and (self.pair is None or self.pair.state == "identical")


class PublishedComparison(Frozen):
    """A published experiment through the same analysis as a run of ours."""

    comparison: Comparison
    pooled: tuple[Pooled, ...]
    controls: tuple[PublishedControl, ...]
    limits: tuple[str, ...]
