"""Speed-ups over the depth of the context, in tokens."""

from __future__ import annotations

from armgate.model.base import Frozen


class DepthSpeedup(Frozen):
    """Speed with speculation over speed without, at one context depth."""

    depth_tokens: int
    speedup: float
    slower: bool
    mean_length: float | None


class DepthTable(Frozen):
    rows: tuple[DepthSpeedup, ...]
    mean_speedup: float
    """Shown because it is quoted; it decides nothing."""
    slower_at: tuple[int, ...]
    """Depths at which speculation costs time; each decides by itself, no mean over depths does."""
    length_falls: bool
    """Whether the mean accepted length falls at every step of the depth."""
