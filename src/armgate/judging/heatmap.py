"""A sweep's table: right answers by prompt length and marker depth, where they stop, what caching does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from armgate.judging.kinds.speed import sample_rates
from armgate.judging.rates import ttft_by_cache
from armgate.model.base import Json
from armgate.model.context_depth import RetrievalStep
from armgate.model.evidence import GateEvidence, Sample
from armgate.model.measures import Rates
from armgate.model.outcome import Family, Finding, Outcome, SampleVerdict
from armgate.model.windows import PromptLength

CHUNK_SETTINGS = ("max_num_batched_tokens", "chunked_prefill_size", "ubatch_size")
"""The setting of the prefill chunk's size in vLLM, SGLang and llama.cpp."""


class DepthHits(NamedTuple):
    """Retrieval at one prompt length in tokens: right answers of n."""

    depth_tokens: int
    right: int
    n: int


def heat_map(
    evidence: GateEvidence, samples: Sequence[SampleVerdict], lengths: Mapping[str, PromptLength]
) -> tuple[list[Json], list[Finding]]:
    """One row per cell, lengths and depths in declared order, and a finding where retrieval breaks off.

    A row has the length asked and served, the depth asked and reached, and its samples by outcome; a cell
    that was not sent says why and counts nowhere.
    """
    by_probe: dict[str, list[tuple[Sample, SampleVerdict]]] = {}
    for sample, verdict in zip(evidence.samples, samples, strict=True):
        by_probe.setdefault(sample.probe.id, []).append((sample, verdict))
    rows = []
    for probe in evidence.gate.probes:
        assert probe.haystack is not None
        row: Json = {
            "probe": probe.id,
            "length": probe.haystack.target_tokens,
            "depth": probe.haystack.markers[0].fraction,
            "seed": probe.haystack.seed,
            "not_sent": evidence.not_sent.get(probe.id),
        }
        rows.append(row | _cell(by_probe.get(probe.id, []), lengths))
    return rows, _broken_off(evidence, rows)


def _cell(judged: Sequence[tuple[Sample, SampleVerdict]], lengths: Mapping[str, PromptLength]) -> Json:
    if not judged:
        return {"served_tokens": None, "n": 0}
    first = judged[0][0]
    outcomes = [verdict.outcome for _, verdict in judged]
    causes = [verdict.cause for _, verdict in judged if verdict.cause is not None]
    placed = first.context.get("markers") or [{}]
    return {
        "served_tokens": lengths[first.id].actual,
        "marker_token": placed[0].get("token_offset"),
        "n": len(judged),
        **{str(outcome): outcomes.count(outcome) for outcome in Outcome if outcome in outcomes},
        "wrong": sum(_is_wrong(verdict) for _, verdict in judged),
        "causes": {cause: causes.count(cause) for cause in sorted(set(causes))},
    }


def _broken_off(evidence: GateEvidence, rows: Sequence[Json]) -> list[Finding]:
    """By the length asked: the server counts cells of one length a token or two apart."""
    hits: dict[Json, list[int]] = {}
    for row in rows:
        right, wrong = row.get("passed", 0), row.get("wrong", 0)
        if right + wrong:
            tally = hits.setdefault(_asked_tokens(row), [0, 0])
            tally[0] += right
            tally[1] += right + wrong
    chunk = next((evidence.arm.serve[name] for name in CHUNK_SETTINGS if name in evidence.arm.serve), None)
    step = retrieval_step(
        [DepthHits(length, *tally) for length, tally in hits.items()], chunk if type(chunk) is int else None
    )
    if step is None:
        return []
    message = f"right up to {step.last_good_tokens} tokens, wrong from {step.first_bad_tokens} tokens on"
    if step.at_chunk_boundary:
        message += (
            f"; the prefill chunk of {step.chunk_tokens} tokens lies between, so suspect chunked prefill"
        )
    kind = "step_at_chunk_boundary" if step.at_chunk_boundary else "retrieval_step"
    return [Finding(kind=kind, message=message)]


def _asked_tokens(row: Json) -> int:
    """The length asked; of `window` the one that came of it."""
    return int(row["length"] if row["length"] != "window" else row["served_tokens"] or 0)


def _is_wrong(verdict: SampleVerdict) -> bool:
    """Whether the answer itself failed, and not the serving of its prompt."""
    families = {violation.family for violation in verdict.violations}
    return verdict.outcome is Outcome.FAILED and Family.SEMANTIC in families


def retrieval_step(rows: Sequence[DepthHits], chunk_tokens: int | None) -> RetrievalStep | None:
    """Where retrieval breaks for good, and whether the prefill chunk's size lies in that gap.

    `None` where it never breaks, never worked, or works again beyond a break: then no length parts right from
    wrong. A length is good from half of its answers right on.
    """
    ordered = sorted(rows)
    good = [row for row in ordered if 2 * row.right >= row.n]
    if not good:
        return None
    beyond = [row for row in ordered if row.depth_tokens > good[-1].depth_tokens]
    if not beyond or len(good) + len(beyond) < len(ordered):
        return None
    last_good, first_bad = good[-1].depth_tokens, beyond[0].depth_tokens
    return RetrievalStep(
        last_good_tokens=last_good,
        first_bad_tokens=first_bad,
        chunk_tokens=chunk_tokens,
        at_chunk_boundary=chunk_tokens is not None and last_good <= chunk_tokens < first_bad,
    )


def caching(evidence: GateEvidence) -> dict[str, Json]:
    """TTFT by what the prefix cache did, for each prompt that was sent more than once; never pooled."""
    found: dict[str, Json] = {}
    for probe in evidence.gate.probes:
        runs = [_beyond_template(s, evidence) for s in evidence.samples if s.probe.id == probe.id]
        if len(runs) > 1:
            found[probe.id] = {**ttft_by_cache(runs).model_dump(mode="json"), "unit": "s"}
    return found


def _beyond_template(sample: Sample, evidence: GateEvidence) -> Rates:
    """The sample's rates; a cache that holds the chat template alone has not seen the prompt."""
    rates = sample_rates(sample, evidence.arm)
    if rates.cached_tokens is None or rates.cached_tokens > (sample.context.get("template_tokens") or 0):
        return rates
    return rates.model_copy(update={"cached_tokens": 0})
