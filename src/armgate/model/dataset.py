"""The data set of a run: one flat row for each sample, and one for each gate that has none."""

from __future__ import annotations

from typing import Literal

from armgate.model.base import Digest, Frozen
from armgate.model.outcome import ArmVerdict, Family, Outcome


class DatasetRow(Frozen):
    """One sample of one gate of one boot. Without a sample (`sample` is null) the gate was not executed.

    Counts are the server's; seconds count from the hand-over of the request. Null is not known, never zero.
    """

    arm: str
    arm_verdict: ArmVerdict
    boot: int
    gate: str
    check: str
    family: Family
    required: bool
    gate_outcome: Outcome
    because_of: str | None
    sample: str | None
    outcome: Outcome
    cause: str | None
    violations: int
    first_violation: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    ttft_s: float | None
    wall_s: float | None
    decode_wall_tok_s: float | None
    """N/(wall-TTFT), of speed gates."""
    decode_span_tok_s: float | None
    """(N-1)/(t_last-t_first), of speed gates."""
    finish_reason: str | None
    fate: str | None
    evidence: str | None
    """The exchange's path in the run."""


class Dataset(Frozen):
    """`dataset.json`; `dataset.csv` has the same rows and columns."""

    schema_version: Literal["armgate/dataset/v1"] = "armgate/dataset/v1"
    armgate_version: str
    campaign: str
    plan_digest: Digest
    rows: tuple[DatasetRow, ...]
