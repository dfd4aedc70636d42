"""The implicit first gate of every boot: what ran is what was pinned."""

from __future__ import annotations

from armgate.model.boots import BootRecord
from armgate.model.gates import IDENTITY
from armgate.model.outcome import Family, Finding, Outcome, Verdict, Violation
from armgate.model.pins import PinCheck, PinState

WHY = "every boot: pins asked = pins observed"


def judge_identity(record: BootRecord, require_verified: bool) -> Verdict:
    """Failed where a pin differs, or where one could not be checked and the campaign demands that it is."""
    bad = {PinState.DIFFERS, PinState.UNVERIFIED} if require_verified else {PinState.DIFFERS}
    violations = tuple(_violation(pin) for pin in record.pins if pin.state in bad)
    unverified = [pin for pin in record.pins if pin.state is PinState.UNVERIFIED]
    if not record.pins:
        return Verdict(
            gate=IDENTITY,
            check=IDENTITY,
            family=Family.RUNTIME,
            required=True,
            outcome=Outcome.SKIPPED,
            because_of=record.unready_because,
            message=record.message or "the boot ended before any pin was looked at",
        )
    return Verdict(
        gate=IDENTITY,
        check=IDENTITY,
        family=Family.RUNTIME,
        required=True,
        outcome=Outcome.FAILED if violations else Outcome.PASSED,
        cause="pin_drift" if violations else None,
        message=violations[0].message if violations else f"{len(record.pins)} pins checked",
        violations=violations,
        findings=tuple(
            Finding(kind="pin_unverified", message=f"{p.role} {p.name}: {p.method}", evidence=("boot.json",))
            for p in unverified
        ),
        measurements={"pins": len(record.pins), "unverified": len(unverified)},
    )


def _violation(pin: PinCheck) -> Violation:
    seen = pin.observed if pin.observed is not None else "nothing"
    return Violation(
        clause="pin",
        message=f"{pin.role} {pin.name}: asked {pin.asked}, observed {seen} ({pin.method})",
        family=Family.RUNTIME,
    )
