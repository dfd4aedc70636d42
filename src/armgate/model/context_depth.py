"""Figures over the depth of the context, in tokens: speed-ups, and where retrieval breaks off."""

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


class RetrievalStep(Frozen):
    """Between which depths retrieval breaks off, in tokens."""

    last_good_tokens: int
    first_bad_tokens: int
    chunk_tokens: int | None
    at_chunk_boundary: bool
    """The break coincides with the size of a prefill chunk: a fault of serving, not of the model."""
