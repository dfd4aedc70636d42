"""The ladder's rules: which gate is skipped and because of what. Pure, so a run and a re-judging agree."""

from __future__ import annotations

from collections.abc import Mapping

from armgate.model.gates import IDENTITY, Gate
from armgate.model.outcome import Outcome, Verdict
from armgate.model.plan import PlannedGate


def skip_cause(gate: Gate, verdicts: Mapping[str, Verdict], gates: Mapping[str, Gate]) -> str | None:
    """The gate that keeps `gate` from running, or `None`.

    `requires` is satisfied only by `passed`; `on_failure: stop` acts on `failed` only; identity is
    required by every gate.
    """
    for needed in (IDENTITY, *gate.requires):
        if needed in verdicts and verdicts[needed].outcome is not Outcome.PASSED:
            return needed
    for earlier, verdict in verdicts.items():
        stops = earlier in gates and gates[earlier].on_failure == "stop"
        if stops and verdict.outcome is Outcome.FAILED:
            return earlier
    return None


def skipped(planned: PlannedGate, because_of: str, message: str) -> Verdict:
    """The verdict of a gate that was not executed."""
    gate = planned.gate
    return Verdict(
        gate=gate.id,
        check=gate.check,
        family=planned.family,
        required=gate.required,
        outcome=Outcome.SKIPPED,
        because_of=because_of,
        message=message,
    )
