"""Outcomes, violations, findings and verdicts, and the rules that combine them.

The tables are those of the design's page on outcomes: first matching rule wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from pydantic import model_validator

from armgate.model.base import Frozen, Json


class Outcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    VOID = "void"
    ERRORED = "errored"


class Family(StrEnum):
    CONTRACT = "contract"
    SEMANTIC = "semantic"
    RUNTIME = "runtime"
    MEASUREMENT = "measurement"


class ArmVerdict(StrEnum):
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    INCONCLUSIVE = "inconclusive"
    NOT_BOOTED = "not_booted"


WORST_FIRST = (Outcome.FAILED, Outcome.ERRORED, Outcome.VOID, Outcome.SKIPPED, Outcome.PASSED)
"""An arm's outcome of a gate over several boots is the first of these that occurs."""


class Violation(Frozen):
    """One breach. `span` is a half-open byte range into the channel encoded as UTF-8 (surrogatepass)."""

    clause: str
    message: str
    channel: str | None = None
    span: tuple[int, int] | None = None
    family: Family = Family.CONTRACT
    kind: str | None = None
    """How the clause was broken, as a stable word (`whitespace`, `duplicate_key`, `orphan_close`, ...)."""


class Finding(Frozen):
    """A warning. It never changes an outcome, a flag or an exit code."""

    kind: str
    message: str
    evidence: tuple[str, ...] = ()


class Diagnostic(Frozen):
    """What a declared extractor's text did in a code task after its reply broke its contract."""

    kind: str
    message: str
    evidence: tuple[str, ...] = ()


class SampleVerdict(Frozen):
    """One exchange judged by one gate, or one answer run by one task."""

    sample: str
    outcome: Outcome
    cause: str | None = None
    violations: tuple[Violation, ...] = ()
    evidence: tuple[str, ...] = ()
    detail: dict[str, Json] = {}


FIGURES_LOST = frozenset(
    {
        "counter_reset",
        "draft_counters_never_moved",
        "draft_vocab_mismatch",
        "foreign_traffic",
        "isolation_unverified",
        "server_restarted",
    }
)
"""Causes of a void that take away every figure of a gate; others concern single samples."""


class Verdict(Frozen):
    """One gate of one boot: its outcome and the evidence for it. Paths are relative to the boot's folder."""

    gate: str
    check: str
    family: Family
    required: bool
    outcome: Outcome
    revises: Outcome | None = None
    """What an earlier line of the same gate said, where something about the whole boot took it back."""
    because_of: str | None = None
    cause: str | None = None
    message: str | None = None
    violations: tuple[Violation, ...] = ()
    samples: tuple[SampleVerdict, ...] = ()
    findings: tuple[Finding, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    measurements: dict[str, Json] = {}
    open_bounds: tuple[int, int] | None = None
    """For a void gate of N samples: fewest and most passes still possible."""

    @property
    def figures_stand(self) -> bool:
        """Whether its measurements may be set beside another arm's. They stay on record anyway."""
        return self.outcome is not Outcome.VOID or self.cause not in FIGURES_LOST

    @model_validator(mode="after")
    def _is_one_honest_outcome(self) -> Verdict:
        if self.outcome is Outcome.SKIPPED and not self.because_of:
            raise ValueError("a skipped verdict names its cause in because_of")
        seen = self.violations or any(sample.violations for sample in self.samples)
        if self.outcome is Outcome.FAILED and not seen:
            raise ValueError("a failed verdict has at least one violation")
        if self.outcome is Outcome.VOID and not self.cause:
            raise ValueError("a void verdict names its cause")
        return self


def gate_outcome(samples: Sequence[Outcome], planned: int, passes_required: int, min_samples: int) -> Outcome:
    """Outcome of a gate of `planned` samples of which `samples` were executed (rules in order).

    Zero planned samples is a fault of the plan. Samples that were never sent count as nothing.
    """
    if planned < 1:
        raise ValueError("a gate without samples has no outcome")
    passed = sum(o is Outcome.PASSED for o in samples)
    failed = sum(o is Outcome.FAILED for o in samples)
    if failed > planned - passes_required:
        return Outcome.FAILED
    if passed >= passes_required and passed + failed >= min_samples:
        return Outcome.PASSED
    if Outcome.ERRORED in samples:
        return Outcome.ERRORED
    return Outcome.VOID


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """The worst outcome over the boots of an arm."""
    seen = set(outcomes)
    for outcome in WORST_FIRST:
        if outcome in seen:
            return outcome
    raise ValueError("no outcomes to combine")


def flag(outcomes: Iterable[Outcome]) -> bool | None:
    """A derived flag over required gates: false if any failed, true if all passed, else unknown."""
    seen = list(outcomes)
    if Outcome.FAILED in seen:
        return False
    if seen and all(o is Outcome.PASSED for o in seen):
        return True
    return None


def arm_verdict(required: Iterable[Outcome], ever_ready: bool) -> tuple[ArmVerdict, int]:
    """The arm's verdict and exit code from the outcomes of its required gates."""
    if not ever_ready:
        return ArmVerdict.NOT_BOOTED, 4
    seen = set(required)
    if Outcome.FAILED in seen:
        return ArmVerdict.REJECTED, 1
    if Outcome.ERRORED in seen:
        return ArmVerdict.INCONCLUSIVE, 4
    if Outcome.VOID in seen or Outcome.SKIPPED in seen:
        return ArmVerdict.INCONCLUSIVE, 3
    if not seen:
        raise ValueError("an arm without required gates has no verdict")
    return ArmVerdict.ACCEPTED, 0


EXIT_PRECEDENCE = (130, 2, 4, 1, 3, 0)


def campaign_exit_code(arm_codes: Iterable[int], interrupted: bool = False) -> int:
    """130 > 2 > 4 > 1 > 3 > 0; 5 where nothing was executed."""
    if interrupted:
        return 130
    codes = set(arm_codes)
    return next((code for code in EXIT_PRECEDENCE if code in codes), 5)
