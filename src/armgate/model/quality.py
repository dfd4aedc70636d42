"""The quality record: an arm over its boots. Version 1; its JSON Schema is published."""

from __future__ import annotations

from typing import Literal

from armgate.model.base import Digest, Frozen, Json, Name
from armgate.model.calibration import Calibration
from armgate.model.outcome import ArmVerdict, Diagnostic, Family, Finding, Outcome, Verdict
from armgate.model.pins import PinCheck

QUALITY_SCHEMA = "armgate/quality/v1"


class Identity(Frozen):
    """Which configuration this record speaks of, as asked and as observed at each counted boot."""

    engine: str
    launcher: str
    serve: dict[str, Json]
    speculative: dict[str, Json] | None
    sampling: dict[str, Json]
    pins: tuple[PinCheck, ...]
    versions: dict[str, str]
    resolved: dict[str, Json]
    argv: tuple[str, ...]


class OutcomeCounts(Frozen):
    """planned = passed + failed + skipped + void + errored."""

    planned: int
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    void: int = 0
    errored: int = 0


class GateRecord(Frozen):
    """One gate over the counted boots: the worst outcome, and each boot's verdict."""

    gate: Name
    check: str
    family: Family
    required: bool
    why: str
    outcome: Outcome
    because_of: str | None = None
    verdicts: dict[str, Verdict]
    """By boot number, two digits. Evidence paths inside are relative to `boots/<nn>/`."""


class Flags(Frozen):
    """Derived when written: over required gates; `null` where they did not run to a verdict."""

    contract_passed: bool | None
    semantic_passed: bool | None
    runtime_passed: bool | None
    quality_passed: bool | None


class QualityRecord(Frozen):
    schema_version: Literal["armgate/quality/v1"] = "armgate/quality/v1"
    armgate_version: str
    campaign: Name
    plan_digest: Digest
    arm: Name
    reference: Name
    arm_verdict: ArmVerdict
    exit_code: int
    reasons: tuple[str, ...]
    """In words, why the verdict is what it is; the first required gate that decided it comes first."""
    flags: Flags
    counts: OutcomeCounts
    identity: Identity
    gates: tuple[GateRecord, ...]
    measurements: dict[str, dict[str, Json]]
    """By gate, then boot: figures with formula, n and unit."""
    calibration: Calibration | None = None
    """The client's own error, which bounds what the measurements can tell; `None` if never measured."""
    memory: dict[str, Json]
    boots: dict[str, dict[str, Json]]
    """By boot number: state, seconds to ready, cause where it failed."""
    findings: tuple[Finding, ...]
    diagnostics: tuple[Diagnostic, ...]
    limits: tuple[str, ...]
    """What this record does not claim."""
