"""Incidents about an engine that dies while requests are on their way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from armgate.judging.checks import CHECKS
from armgate.model.arms import Arm, ProcessLauncher
from armgate.model.evidence import GateEvidence, Sample
from armgate.model.exchange import Exchange, Fate
from armgate.model.gates import Gate, Probe
from armgate.model.outcome import Violation
from armgate.model.plan import Plan
from armgate.model.reading import read_response
from armgate.model.soundness import void_of
from support.cases.corpus import NotCovered
from support.cases.exchanges import of_body, of_message
from support.cases.observed import Observed

PLAN: Plan = None  # type: ignore[assignment] # this check asks the plan for nothing


def engine_crash(given: Mapping[str, Any]) -> Iterator[Observed]:
    """Requests in their order, one of which kills the engine: what each of them then is."""
    events = [event for event in given["events"] if "probe" in event]
    if not events:
        raise NotCovered
    log = next(event["log"] for event in events if "log" in event)
    samples = tuple(_sample(f"p{number}", event["result"]) for number, event in enumerate(events))
    gate = Gate(
        id="g", check="responds", required=True, why="w", probes=tuple(sample.probe for sample in samples)
    )
    evidence = GateEvidence(
        gate=gate,
        family=CHECKS["responds"].family,
        arm=Arm(
            name="a",
            engine="vllm",
            launcher=ProcessLauncher(kind="process", python="p"),
            target="t",
            reference="a",
        ),
        samples=samples,
        engine_died=log,
        planned_samples=len(samples),
    )
    verdict = CHECKS["responds"].judge(evidence, PLAN)
    for event, sample in zip(events, verdict.samples, strict=True):
        words = {word for violation in sample.violations for word in _words(violation, log)}
        yield Observed(event["probe"], sample.outcome.value, frozenset(words | {sample.cause or ""}))


def _words(violation: Violation, log: str) -> Iterator[str]:
    yield violation.clause
    if log in violation.message:
        yield "log_excerpt"


def _sample(name: str, result: Any) -> Sample:
    probe = Probe(id=name, prompt="p")
    exchange = _exchange(result)
    response = read_response(exchange)
    return Sample(
        id=f"{name}.0",
        probe=probe,
        n=0,
        path=f"{name}.0",
        exchange=exchange,
        response=response,
        void=void_of(exchange, response),
    )


def _exchange(result: Any) -> Exchange:
    if isinstance(result, Mapping):
        return of_body(None, result["status"], result["body"])
    if result == "connect refused":
        return Exchange(request={}, status=None, headers={}, frames=(), fate=Fate.REFUSED)
    return of_message({"content": "a text", "usage": {"prompt_tokens": 5, "completion_tokens": 2}})
