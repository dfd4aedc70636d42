"""Verdicts of a boot from its folder alone. A run and `armgate judge` go through the same functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from armgate.campaign.evidence import BootEvidence, boot_record, gate_evidence
from armgate.judging.checks import CHECKS
from armgate.judging.counters import counter_deltas
from armgate.judging.drift import with_drift
from armgate.judging.identity import judge_identity
from armgate.judging.ladder import skip_cause, skipped
from armgate.judging.observation import observed
from armgate.model.boots import BootRecord, BootState
from armgate.model.evidence import GateEvidence
from armgate.model.gates import IDENTITY
from armgate.model.outcome import Outcome, Verdict
from armgate.model.plan import Plan, PlannedBoot, PlannedGate
from armgate.reporting.run_folder import RunFolder

Verdicts = dict[str, Verdict]
Source = Callable[[], BootEvidence]
NEVER_MOVED = "draft_counters_never_moved"
REVISABLE = (Outcome.PASSED, Outcome.FAILED, Outcome.VOID)


class BootJudge:
    """Judges one boot's gates in ladder order from what is on disk."""

    def __init__(self, run: RunFolder, plan: Plan, boot: PlannedBoot) -> None:
        self.run, self.plan, self.boot = run, plan, boot
        self.arm = plan.arms[boot.arm]
        self.folder = run.boot(boot.arm, boot.boot)

    def identity(self, record: BootRecord) -> Verdict:
        return judge_identity(record, self.plan.require_verified)

    def skip(self, planned: PlannedGate, verdicts: Mapping[str, Verdict]) -> Verdict | None:
        """The verdict of a gate that earlier gates keep from running, or `None`."""
        gates = {p.gate.id: p.gate for p in self.plan.gates}
        cause = skip_cause(planned.gate, verdicts, gates)
        if cause is None:
            return None
        return skipped(planned, cause, f"{cause} {verdicts[cause].outcome}")

    def gate(self, planned: PlannedGate, record: BootRecord, verdicts: Mapping[str, Verdict]) -> Verdict:
        """One gate's verdict, whether it ran, was skipped, or the boot ended before it."""
        if not record.was_ready and verdicts[IDENTITY].outcome is not Outcome.FAILED:
            return skipped(planned, record.unready_because, record.message or "the boot never became ready")
        skip = self.skip(planned, verdicts)
        if skip is not None:
            return skip
        evidence = BootEvidence.read(self.folder, self.arm)
        if not self.boot.climbs:
            return self._replayed_itself(planned, evidence)
        if not evidence.started(planned.gate.id) or not evidence.samples(planned, "sample"):
            return skipped(planned, *evidence.not_sent(planned.gate.id))
        verdict = self._judged(planned, evidence)
        if planned.repeat_of is None:
            return verdict
        return with_drift(verdict, verdicts[planned.repeat_of])

    def _judged(self, planned: PlannedGate, evidence: BootEvidence) -> Verdict:
        reference, rebooted = self._reference(planned), self._rebooted(planned)
        return self._checked(planned, gate_evidence(self.plan, planned, evidence, reference, rebooted))

    def _checked(self, planned: PlannedGate, evidence: GateEvidence) -> Verdict:
        gate = planned.gate
        try:
            verdict = CHECKS[gate.check].judge(evidence, self.plan)
            # A replayed control is judged on answers of another boot: its surroundings are not theirs.
            return observed(verdict, evidence) if self.boot.climbs else verdict
        except Exception as error:  # a fault of ours must not end a campaign of hours
            return Verdict(
                gate=gate.id,
                check=gate.check,
                family=planned.family,
                required=gate.required,
                outcome=Outcome.ERRORED,
                cause="check_fault",
                message=f"the check itself failed: {type(error).__name__}: {error}",
            )

    def _reference(self, planned: PlannedGate) -> BootEvidence | None:
        name = planned.reference_of(self.arm)
        folder = self.run.boot(name, 0)
        if name == self.arm.name or not folder.record.exists():
            return None
        return BootEvidence.read(folder, self.plan.arms[name])

    def _rebooted(self, planned: PlannedGate) -> list[BootEvidence]:
        """The reference's boots beside the one that is compared with; none before they have been begun."""
        name = planned.reference_of(self.arm)
        own = name == self.arm.name
        boots = [b for b in self.plan.boots if b.arm == name and b.climbs and (b.boot == 0) is own]
        others = [boot for boot in boots if planned.compares and boot != self.boot]
        folders = [self.run.boot(boot.arm, boot.boot) for boot in others]
        return [BootEvidence.read(f, self.plan.arms[name]) for f in folders if f.record.exists()]

    def _replayed_itself(self, planned: PlannedGate, evidence: BootEvidence) -> Verdict:
        """Of a boot for teacher forcing: the control, the reference's own answers replayed."""
        first = BootEvidence.read(self.run.boot(self.arm.name, 0), self.arm)
        replays = evidence.replays(planned.gate.id, self.arm.name, 0, self.folder)
        if not replays:
            return skipped(planned, *evidence.not_sent(planned.gate.id))
        seen = gate_evidence(self.plan, planned, first, None)
        return self._checked(planned, seen.model_copy(update={"replays": replays}))

    def revisions(self, verdicts: Mapping[str, Verdict]) -> Verdicts:
        """Verdicts that the replay of this boot's answers through the reference replaces."""
        found: Verdicts = {}
        for boot in (b for b in self.plan.boots if not b.climbs and self.boot.climbs):
            for replay in self.plan.replays(boot.arm):
                before = verdicts.get(replay.gate)
                ours = replay.arm == self.boot.arm != boot.arm and replay.boot == self.boot.boot
                if ours and before is not None and before.outcome in REVISABLE:
                    found |= self._revised(self.plan.gate(replay.gate), boot, before)
        return found

    def _revised(self, planned: PlannedGate, boot: PlannedBoot, before: Verdict) -> Verdicts:
        folder, gate = self.run.boot(boot.arm, boot.boot), planned.gate.id
        if not folder.record.exists() or boot_record(folder).state not in (BootState.STOPPED, BootState.DIED):
            return {}
        forced = BootEvidence.read(folder, self.plan.arms[boot.arm])
        replays = forced.replays(gate, self.arm.name, self.boot.boot, self.folder)
        if not replays or before.revises is not None:
            return {}
        control = forced.replays(gate, boot.arm, 0, self.folder)
        own = BootEvidence.read(self.folder, self.arm)
        seen = gate_evidence(self.plan, planned, own, self._reference(planned), self._rebooted(planned))
        seen = seen.model_copy(update={"replays": replays, "control_replays": control})
        return {gate: self._checked(planned, seen).model_copy(update={"revises": before.outcome})}

    def boot_voids(self, verdicts: Mapping[str, Verdict]) -> Verdicts:
        """Gates that the boot as a whole deprives of their verdict: a draft that never drafted."""
        if self.arm.speculative is None:
            return {}
        refused = boot_record(self.folder).log_facts.get("draft_refused")
        if refused is not None:
            return _voided(
                verdicts, "draft_vocab_mismatch", f"the server goes on without its draft: {refused}"
            )
        evidence = BootEvidence.read(self.folder, self.arm)
        before, after = evidence.counters(None, "before"), evidence.counters(None, "after")
        if before is None or after is None:
            return {}
        if counter_deltas(before, after).moved is not False:
            return {}
        message = "a draft is configured, and its counters never moved in this boot"
        return _voided(verdicts, NEVER_MOVED, message)

    def lines(self) -> list[Verdict]:
        """Every verdict of the boot in the order in which a run writes them: the gates, boot-wide voids, then
        what a later replay of the answers revised."""
        record = boot_record(self.folder)
        verdicts: Verdicts = {IDENTITY: self.identity(record)}
        for planned in self.plan.gates_of(self.boot):
            verdicts[planned.gate.id] = self.gate(planned, record, verdicts)
        voids = self.boot_voids(verdicts)
        return [*verdicts.values(), *voids.values(), *self.revisions({**verdicts, **voids}).values()]


def _voided(verdicts: Mapping[str, Verdict], cause: str, message: str) -> Verdicts:
    """Every gate that came to a verdict on the model, without it."""
    changes = {"outcome": Outcome.VOID, "cause": cause, "message": message}
    return {
        gate: verdict.model_copy(update={**changes, "revises": verdict.outcome})
        for gate, verdict in verdicts.items()
        if gate != IDENTITY and verdict.outcome in (Outcome.PASSED, Outcome.FAILED)
    }
