"""Incidents about lengths: limits that only a log tells, prompts not as long as they are called."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from armgate.judging.checks import CHECKS
from armgate.model.arms import Arm, ProcessLauncher
from armgate.model.boots import BootRecord, BootState
from armgate.model.evidence import GateEvidence, Sample
from armgate.model.gates import Gate, Probe
from armgate.model.haystack import HaystackSpec, MarkerSpec
from armgate.model.reading import read_response
from armgate.model.soundness import void_of
from armgate.model.windows import limit_below, limits_in_log
from armgate.reporting.context import window_findings
from support.cases.exchanges import of_body
from support.cases.observed import ABSENT, Observed

Fields = Mapping[str, Any]
SPEC = HaystackSpec(lines=1, question="?", markers=(MarkerSpec(id="code", text="MARK-4417"),))
PROBE = Probe(id="p", haystack=SPEC)


def _arm(**serve: int) -> Arm:
    launcher = ProcessLauncher(kind="process", python="p")
    return Arm(name="a", engine="vllm", launcher=launcher, target="t", reference="a", serve=dict(serve))


def _boot_log(given: Fields) -> Iterator[Observed]:
    """A server that logged a smaller limit than its settings promise."""
    arm = _arm(max_seq_len=given["arm"]["declared_context"])
    record = BootRecord(
        arm="a",
        boot=0,
        purpose="first",
        state=BootState.READY,
        engine="vllm",
        launcher="process",
        log_facts=limits_in_log("\n".join(given["lines"])),
    )
    words = frozenset(finding.kind for finding in window_findings(arm, [record]))
    limit = limit_below(arm.window_tokens, record.log_facts)
    values = {"effective_input_limit": limit.tokens} if limit is not None else {}
    yield Observed("", "passed", words, lambda name: values.get(name, ABSENT))


def mislabelled(given: Fields) -> Iterator[Observed]:
    """A retrieval whose prompt was called after an estimate."""
    exchange = of_body(None, given["status"], given["body"])
    response = read_response(exchange)
    sample = Sample(
        id="p.0",
        probe=PROBE,
        n=0,
        path="exchanges/g/p.0.jsonl",
        exchange=exchange,
        response=response,
        void=void_of(exchange, response),
        context={
            "prompt_tokens": given["probe"]["estimated_tokens"],
            "counted_by": given["probe"]["estimator"],
            "markers": [{"text": "MARK-4417"}],
        },
    )
    check = CHECKS["retrieval"]
    gate = Gate(id="g", check="retrieval", required=True, why="w", probes=(PROBE,))
    evidence = GateEvidence(gate=gate, family=check.family, arm=_arm(), samples=(sample,), planned_samples=1)
    verdict = check.judge(evidence, None)  # type: ignore[arg-type] # no contract is asked of the plan
    length = verdict.measurements["prompt_tokens"]["p.0"]
    error = (length["reported"] - length["counted"]) / length["counted"]
    values = {"actual_depth": length["reported"], "relative_error": error}
    words = frozenset(finding.kind for finding in verdict.findings)
    yield Observed("", verdict.outcome.value, words, lambda name: values.get(name, ABSENT))


WINDOW_RUNNERS: dict[str, Callable[[Fields], Iterator[Observed]]] = {"boot_log": _boot_log}
