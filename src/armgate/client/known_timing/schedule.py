"""What the server of known timing is asked to do, and what it really did."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Schedule:
    """Instants count from the last byte of the request. A body's key `schedule` overrides any of these.

    `fault` spoils the stream: `http_500`, `cut` (after half of the deltas), `error_event` (there as well),
    `silent_end` (a clean end without finish reason, usage or `[DONE]`) or `empty` (no text at all).
    """

    ttft_s: float = 0.2
    gap_s: float = 0.03
    deltas: int = 20
    tokens_per_delta: int = 3
    token_ids: bool = False
    reasoning_deltas: int = 0
    role_chunk: bool = True
    usage_after_s: float = 0.0
    prompt_tokens: int = 10
    text: str = " one two six"
    fault: str = ""


@dataclasses.dataclass
class Written:
    """What was really done for one request: instants on CLOCK_MONOTONIC, which processes share."""

    received: float
    streamed: bool
    fault: str
    tokens: int
    prompt_tokens: int
    texts: int = 0
    first_text: float | None = None
    last_text: float | None = None
    end: float | None = None
    latest_s: float = 0.0
    """How late the latest text was written, against the schedule."""
