"""Drift: a gate that held at the start of a boot, asked again when the load is over."""

from __future__ import annotations

from armgate.model.outcome import Finding, Outcome, Verdict


def with_drift(again: Verdict, first: Verdict) -> Verdict:
    """The repeat's verdict, with a finding of its own where the first passed and the repeat failed."""
    if (first.outcome, again.outcome) != (Outcome.PASSED, Outcome.FAILED):
        return again
    changed = sorted(
        sample.sample
        for sample, before in zip(again.samples, first.samples, strict=False)
        if (before.outcome, sample.outcome) == (Outcome.PASSED, Outcome.FAILED)
    )
    message = f"{first.gate} passed at the start of the boot and failed at its end: {', '.join(changed)}"
    return again.model_copy(update={"findings": (*again.findings, Finding(kind="drift", message=message))})
