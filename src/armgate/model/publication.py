"""The record that goes with a published copy of a run: what was left out, and what was searched for."""

from __future__ import annotations

from typing import Literal

from armgate.model.base import Digest, Frozen

Replies = Literal["yes", "no"]


class LeftOut(Frozen):
    what: str
    why: str


class Searched(Frozen):
    """One kind of string that must not be in the copy. The strings themselves are not told."""

    kind: str
    strings: int
    """How many different strings of this kind were searched for."""
    files: int
    found: int


class Publication(Frozen):
    """`publication.json`."""

    schema_version: Literal["armgate/publication/v1"] = "armgate/publication/v1"
    armgate_version: str
    campaign: str
    source_plan_digest: Digest
    """Of the plan that was run; the copy's own differs where something was withheld from it."""
    plan_digest: Digest
    replies: Replies
    re_judgeable: bool
    """Whether `armgate judge` can reach the verdicts again from this copy alone."""
    left_out: tuple[LeftOut, ...]
    searched: tuple[Searched, ...]
    copied: dict[str, int]
    """Files by kind."""
