"""Measurements as values: each carries its formula by name, its unit and its n, or why it is absent."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from armgate.model.base import Frozen, Json


class Measure(Frozen):
    """One figure. Exactly one of `value` and `absent` is set: what cannot be derived is not a zero."""

    name: str
    formula: str
    unit: str
    n: int
    """What the figure rests on, in the unit that its formula names (tokens, drafts, comparisons)."""
    value: float | None = None
    absent: str | None = None

    @model_validator(mode="after")
    def _is_there_or_says_why(self) -> Measure:
        if (self.value is None) == (self.absent is None):
            raise ValueError(f"{self.name}: exactly one of value and absent")
        return self


class Interval(Frozen):
    """An interval and the method that made it; only a method with a coverage level may claim one."""

    low: float
    high: float | None
    """`None` where there is no finite upper bound."""
    level: float
    method: str


class Gaps(Frozen):
    """Seconds between deliveries of text: deltas of one read arrived together and have no gap.

    They are gaps between deliveries and not between tokens, of which a delta may hold several.
    """

    deltas: int
    deliveries: int
    median_s: float | None = None
    p99_s: float | None = None
    max_s: float | None = None


class Rates(Frozen):
    """Speed figures of one exchange. Counts come from the server's usage, never from delta counts."""

    completion_tokens: int | None
    count_source: Literal["usage"] | None
    count_absent: str | None
    """Why the server's count is missing or not believed."""
    prompt_tokens: int | None
    cached_tokens: int | None
    ttft_s: float | None
    ttft_channel: str | None
    first_content_s: float | None
    last_text_s: float | None
    wall_s: float | None
    gaps: Gaps
    decode_wall: Measure
    decode_wall_rest: Measure
    decode_span: Measure
    decode_span_exact: Measure
    end_to_end: Measure
    prefill: Measure
    flags: tuple[str, ...] = ()
    """`tokens_interpolated`: tokens lie somewhere inside deltas, so no figure over less than the whole."""

    def measures(self) -> tuple[Measure, ...]:
        decode = (self.decode_wall, self.decode_wall_rest, self.decode_span, self.decode_span_exact)
        return (*decode, self.end_to_end, self.prefill)


class TtftByCache(Frozen):
    """TTFT of one prompt's runs in seconds, by what the prefix cache did; regimes are never averaged."""

    cold_s: float | None
    """The first run, where the server reported no cached token for it."""
    warm_s: tuple[float, ...]
    """Runs with cached tokens."""
    missed_s: tuple[float, ...]
    """Later runs without cached tokens: the same prompt, seen before, and still computed anew."""
    unknown_s: tuple[float, ...]
    """Runs for which the server did not say."""
    warm_median_s: float | None


class Acceptance(Frozen):
    """Speculation over one window of steps. A draft's accepted tokens are its verified prefix.

    `mean_length` counts the bonus token that each step yields, `mean_accepted` does not.
    """

    definition: Literal["accepted_prefix"] = "accepted_prefix"
    source: str
    drafts: int
    draft_tokens: int
    accepted_tokens: int
    rate: Measure
    mean_accepted: Measure
    mean_length: Measure
    per_position: tuple[float, ...] | None = None
    """Share of drafts whose token at this position was accepted, first position first."""


class SourcedAcceptance(Frozen):
    """Acceptance as one source defines it. Only figures of one definition may be set against each other.

    `accepted_prefix` counts tokens up to the first wrong one; `all_matches` also those after it;
    `batch_gauge` is a reading of the running batch and no total.
    """

    source: str
    definition: Literal["accepted_prefix", "all_matches", "batch_gauge"]
    n: int
    """Drafts for counters, lines for a log, requests for a report."""
    rate: float | None = None
    length: float | None = None
    """Mean length with the bonus token."""
    length_low: float | None = None
    length_high: float | None = None
    absent: str | None = None
    """Why what the source says is no figure."""
    by_interval: bool = False
    """Whether its totals are of the source's own intervals, which do not begin and end with a gate."""


class CounterDeltas(Frozen):
    """What the server's counters gained between two scrapes. `None` is not zero: it was not derivable."""

    available: bool
    reason: str | None = None
    """Why nothing, or not everything, could be derived."""
    reset: str | None = None
    """What shows that the counters started anew inside the window; nothing is derived then."""
    moved: bool | None = None
    """Whether draft counters grew; `None` where there are none."""
    quiescent: bool | None = None
    """Nothing ran or waited at either scrape; `None` where the server does not say."""
    prompt_tokens: int | None = None
    generation_tokens: int | None = None
    cached_tokens: int | None = None
    preemptions: int | None = None
    queue_s: float | None = None
    """Seconds that the requests finished in the window had waited, summed over them."""
    ttft_s: float | None = None
    """First-token times that the server saw itself from a request's arrival, summed over `first_tokens`."""
    first_tokens: int | None = None
    in_flight_tokens: int | None = None
    """Tokens generated, at the later scrape, for requests that had not finished: not lost, not yet summed."""
    finished: dict[str, int] | None = None
    """Requests by the reason they finished for."""
    acceptance: Acceptance | None = None

    @property
    def requests(self) -> int | None:
        return None if self.finished is None else sum(self.finished.values())


class Traffic(Frozen):
    """What this run itself sent in a window, from its own exchanges."""

    requests: int
    """Requests whose answer came whole, as far as a server counts them: refused ones are not among them."""
    unanswered: int = 0
    """Requests that broke off or met a fault of the server, which may have counted them or not."""
    prompt_tokens: int | None = None
    generation_tokens: int | None = None


class Interference(Frozen):
    """The server's counts minus ours. Positive figures are someone else's traffic."""

    requests: int | None = None
    """Completions that this run did not ask for."""
    prompt_tokens: int | None = None
    generation_tokens: int | None = None
    unanswered: int = 0
    """Requests of ours that the server may have counted or not: by so many `requests` may be too high."""
    before: int | None = None
    """Completions of others between the gate before and this one."""
    preemptions: int | None = None
    quiescent: bool | None = None
    """Whether nothing ran or waited at either end of the window."""
    absent: str | None = None

    @property
    def foreign(self) -> bool | None:
        """Whether somebody else used the server; `None` where its counts cannot tell.

        Tokens beyond ours without a completion are a request that had not ended, or one of ours that was
        preempted and computed again: only without preemptions are they someone else's.
        """
        if self.requests is None and self.prompt_tokens is None and self.generation_tokens is None:
            return None
        if (self.requests or 0) > self.unanswered:
            return True
        if self.unanswered or self.preemptions:
            return False if self.requests is not None else None
        return any((count or 0) > 0 for count in (self.prompt_tokens, self.generation_tokens))


class GaugeRange(Frozen):
    """Readings of a gauge during a gate. What lay between two readings is not known."""

    readings: int
    low: float
    high: float


class AcceptanceRange(Frozen):
    """Acceptance from reading to reading while drafts were made: how it moved, beside the gate's own mean."""

    windows: int
    """Stretches between two readings in which at least one draft was made."""
    rate_low: float | None = None
    rate_high: float | None = None
    length_low: float | None = None
    length_high: float | None = None
    absent: str | None = None


class Candidate(Frozen):
    """A token that one side chose, and its log probability in nats as each side gave it."""

    token: Json
    in_reference: float | None = None
    in_arm: float | None = None


class FirstDivergence(Frozen):
    """Where two sides part: `index` in units of the whole output, `text_index` in characters of `channel`."""

    index: int
    unit: Literal["tokens", "characters"]
    channel: str | None
    text_index: int | None
    arm_text: str
    reference_text: str
    arm: Candidate | None = None
    reference: Candidate | None = None
    gap_nats: float | None = None
    """The reference's log probability of its own token minus that of the arm's, at this place."""
    gap_is_lower_bound: bool = False
    near_tie: bool | None = None
    """Whether the gap is within the declared margin; `None` without a gap or a margin."""


class PairComparison(Frozen):
    """One prompt on two sides."""

    sample: str
    against: str
    state: Literal["identical", "diverged", "void"]
    level: Literal["token_ids", "text"] | None = None
    common_prefix: int = 0
    compared: int = 0
    """Units at which the sides could still agree: the common prefix, plus the place where they part."""
    divergence: FirstDivergence | None = None
    void_cause: str | None = None
    notes: tuple[str, ...] = ()


class Divergence(Frozen):
    """Two sides over all their prompts. The rate's exposure ends at each first divergence."""

    pairs: tuple[PairComparison, ...]
    prompts: int
    """Prompts compared by token id, however often each was sent."""
    identical: int
    diverged: int
    void: int
    near_ties: int
    level: Literal["token_ids", "text", "mixed"] | None
    per_1000_tokens: Measure
    per_1000_tokens_interval: Interval | None
    identical_share: Measure
    identical_share_interval: Interval | None
