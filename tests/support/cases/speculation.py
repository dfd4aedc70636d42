"""Incidents about a draft that does not draft: what the log of the start says, and what counters do then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from armgate.engines.vllm import Vllm
from armgate.judging.checks import CHECKS
from armgate.model.arms import Arm, ProcessLauncher, Speculative
from armgate.model.evidence import Counters, GateEvidence, Sample
from armgate.model.exchange import Exchange, Fate
from armgate.model.gates import Gate, Probe
from armgate.model.outcome import Family
from armgate.model.plan import Plan
from armgate.model.response import Response
from support.cases.corpus import NotCovered
from support.cases.observed import Observed

PLAN: Plan = None  # type: ignore[assignment] # this check asks the plan for nothing
PROBE = Probe(id="p", prompt="p")
LISTENING = "server is listening"


def boot_logs(given: Mapping[str, Any]) -> Iterator[Observed]:
    """A start that failed by its log; or one that went on, whose draft counters then stand still."""
    for label, lines in given["variants"].items():
        log = "\n".join(lines)
        if "draft" not in log:
            raise NotCovered
        if LISTENING in log:
            yield _served_without_drafting(label)
            continue
        failure = Vllm().failure(log)
        yield Observed(label, "not_booted", frozenset({failure[0]} if failure else ()))


def _served_without_drafting(label: str) -> Observed:
    """The acceptance gate of an arm with a draft, over counters that do not move while it answers."""
    still = {
        f"vllm:spec_decode_num_{name}_total": 0.0 for name in ("drafts", "draft_tokens", "accepted_tokens")
    }
    counters = Counters(available=True, at_s=0.0, series=still)
    exchange = Exchange(request={}, status=200, headers={}, frames=(), fate=Fate.COMPLETE)
    sample = Sample(
        id="p.0", probe=PROBE, n=0, path="p.0", exchange=exchange, response=Response(content="a text")
    )
    evidence = GateEvidence(
        gate=Gate(id="g", check="acceptance", required=True, why="w", probes=(PROBE,)),
        family=Family.MEASUREMENT,
        arm=Arm(
            name="a", engine="vllm", launcher=ProcessLauncher(kind="process", python="p"), target="t",
            reference="a", speculative=Speculative(method="draft_model", depth=3, draft="d"),
        ),
        samples=(sample,),
        counters_before=counters,
        counters_after=counters,
        planned_samples=1,
    )  # fmt: skip
    verdict = CHECKS["acceptance"].judge(evidence, PLAN)
    return Observed(label, verdict.outcome.value, frozenset({verdict.cause or ""}))
