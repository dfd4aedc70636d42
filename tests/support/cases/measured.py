"""Incidents about figures: two sides compared, depths tabled, runs told apart by what the cache did."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from armgate.analysis.depths import DepthRates, speedup_by_depth
from armgate.judging.heatmap import DepthHits, retrieval_step
from armgate.judging.idle import load_suspects
from armgate.judging.losslessness import compare_sides, sample_verdicts
from armgate.judging.rates import rates_of, ttft_by_cache
from armgate.model.evidence import Sample
from armgate.model.exchange import Exchange, Fate
from armgate.model.gates import Probe
from armgate.model.measures import Divergence
from armgate.model.outcome import SampleVerdict
from armgate.model.response import Channel, Response, Timings, Usage
from armgate.model.soundness import void_of
from support.cases.observed import ABSENT, Observed

Fields = Mapping[str, Any]
NEAR_TIE_NATS = 0.05


def _sample(response: Response, request: Fields | None = None) -> Sample:
    asked = {"temperature": 0, **(request or {})}
    return Sample(
        id="p.0",
        probe=Probe(id="p", prompt="p"),
        n=0,
        path="exchanges/p.0.json",
        exchange=Exchange(request=asked, status=200, headers={}, frames=(), fate=Fate.COMPLETE),
        response=response,
    )


def _tokens(ids: Sequence[int], top: Sequence[Sequence[float]] = (), at: int = -1) -> Sample:
    """Token ids, with the two best candidates of one place where the case gives them."""
    entries = [{"token": f"token_id:{token}", "logprob": -1.0, "top_logprobs": []} for token in ids]
    if top:
        listed = [{"token": f"token_id:{token}", "logprob": value} for token, value in top]
        entries[at] = {**listed[0], "top_logprobs": listed}
    response = Response(
        content=" ".join(map(str, ids)),
        finish_reason="stop",
        token_ids=tuple(ids),
        logprobs=tuple(entries) if top else None,
    )
    return _sample(response)


def _compared(given: Fields) -> tuple[Divergence, SampleVerdict]:
    at = next(
        (i for i, pair in enumerate(zip(given["off1"], given["on"], strict=False)) if len({*pair}) > 1), -1
    )
    off = _tokens(given["off1"], given.get("off1_top2_at_divergence", ()), at)
    found = compare_sides([_tokens(given["on"])], [off], NEAR_TIE_NATS)
    control = compare_sides([_tokens(given["off2"])], [off])
    (verdict,) = sample_verdicts(found, control)
    return found, verdict


def _paired_variants(given: Fields) -> Iterator[Observed]:
    compared = {label: _compared(variant) for label, variant in given["variants"].items()}
    values: dict[str, Any] = {}
    for label, (found, _) in compared.items():
        parted = found.pairs[0].divergence
        if parted is not None:
            gap = None if parted.gap_nats is None else round(parted.gap_nats, 9)
            values |= {f"{label}.first_divergence": parted.index, f"{label}.margin": gap}
    for label, (_, verdict) in compared.items():
        words = frozenset({verdict.cause} if verdict.cause else ())
        yield Observed(label, verdict.outcome.value, words, lambda name: values.get(name, ABSENT))


def _paired(given: Fields) -> Iterator[Observed]:
    if "thinking_token_budget" in given["request"]:
        yield from _budgeted(given)
        return
    on, off = (
        _sample(
            Response(
                content=given[side]["content"],
                finish_reason=given[side]["finish_reason"],
                usage=Usage(completion_tokens=given[side]["completion_tokens"]),
            ),
            given["request"],
        )
        for side in ("on", "off")
    )
    found = compare_sides([on], [off])
    (verdict,) = sample_verdicts(found, compare_sides([off], [off]))
    notes = found.pairs[0].notes
    words = {note.partition(":")[0] for note in notes} | ({verdict.cause} if verdict.cause else set())
    prefix = any("the arm's text is a mere prefix" in note for note in notes)
    values = {"prefix_of_control": prefix}
    yield Observed("", verdict.outcome.value, frozenset(words), lambda name: values.get(name, ABSENT))


def _budgeted(given: Fields) -> Iterator[Observed]:
    """The arm that ignores the budget cannot be compared with the one that obeys it."""
    sides = {}
    for side in ("on", "off"):
        usage = Usage(reasoning_tokens=given[side]["reasoning_tokens"])
        answer = {"content": given[side]["content"], "finish_reason": given[side]["finish_reason"]}
        sample = _sample(Response(**answer, usage=usage), given["request"])
        void = void_of(sample.exchange, sample.response)
        sides[side] = sample.model_copy(update={"void": void})
    assert sides["off"].void is None
    (verdict,) = sample_verdicts(compare_sides([sides["on"]], [sides["off"]]), None)
    words = {"thinking_budget_ignored"} if "thinking_budget_ignored" in (verdict.cause or "") else set()
    yield Observed("", verdict.outcome.value, frozenset(words))


def _table(given: Fields) -> Iterator[Observed]:
    rows = given["rows"]
    yield _speedups(rows) if "off_tps" in rows[0] else _retrieval(rows, given["arm"])


def _speedups(rows: Sequence[Fields]) -> Observed:
    table = speedup_by_depth(
        [DepthRates(row["depth"], row["off_tps"], row["on_tps"], row["accept_len"]) for row in rows]
    )
    values = {
        "speedup": [row.speedup for row in table.rows],
        "regressed_depths": list(table.slower_at),
        "mean_speedup": round(table.mean_speedup, 2),
    }
    slower = bool(table.slower_at)
    words = frozenset({"slower_at_depth"} if slower else ())
    return Observed("", "failed" if slower else "passed", words, lambda name: values.get(name, ABSENT))


def _retrieval(rows: Sequence[Fields], arm: Fields) -> Observed:
    hits = [DepthHits(row["depth"], row["ok"], row["n"]) for row in rows]
    step = retrieval_step(hits, arm["max_num_batched_tokens"])
    if step is None:
        return Observed("", "passed", frozenset())
    values = {"last_good": step.last_good_tokens, "first_bad": step.first_bad_tokens}
    words = frozenset({"at_chunk_boundary"} if step.at_chunk_boundary else ())
    return Observed("", "failed", words, lambda name: values.get(name, ABSENT))


def _timings(given: Fields) -> Iterator[Observed]:
    for label, variant in given["variants"].items():
        runs = [
            rates_of(
                Response(
                    streamed=True,
                    usage=Usage(cached_tokens=cached),
                    timings=Timings(ttft_s=ttft / 1000, ttft_channel=Channel.CONTENT),
                )
            )
            for ttft, cached in zip(variant["ttft_ms"], variant["cached_tokens"], strict=True)
        ]
        found = ttft_by_cache(runs)
        values = {
            "cold_ttft_ms": _ms(found.cold_s),
            "warm_ttft_ms": _ms(found.warm_median_s),
            "other_ttft_ms": _ms(found.missed_s[0]) if found.missed_s else None,
        }
        yield Observed(label, "passed", frozenset(), lambda name, values=values: values.get(name, ABSENT))


def _load(given: Fields) -> Iterator[Observed]:
    ttfts_s = [ttft / 1000 for ttft in given["ttft_ms"]]
    suspects = load_suspects(ttfts_s, given["gaps_s_before"], given["idle_ttl_s"])
    usual_s = median(ttft_s for i, ttft_s in enumerate(ttfts_s) if i not in suspects)
    values = {"load_suspect_indices": list(suspects), "median_ttft_ms": _ms(usual_s)}
    yield Observed("", "passed", frozenset(), lambda name: values.get(name, ABSENT))


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 6)


MEASURED_RUNNERS: dict[str, Callable[[Fields], Iterator[Observed]]] = {
    "paired_outputs_variants": _paired_variants,
    "paired_outputs": _paired,
    "table": _table,
    "timings_variants": _timings,
    "timings": _load,
}
