"""Incidents of starts: logs, events and figures of boots that must not, or not yet, count as ready."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from statistics import median
from typing import Any

from armgate.engines.failures import (
    DRAFT_REFUSED,
    compiled_line,
    draft_refused,
    find_failure,
    incomplete_ranks,
)
from armgate.engines.images import check_image
from armgate.engines.memory_floor import below_floor
from armgate.engines.progress import LOG, StallWatch
from armgate.engines.readiness import first_token_cause, listens, model_entry
from armgate.engines.revisions import refuse_other_revisions
from armgate.errors import BootError
from armgate.judging.kinds.speed import by_probe, compilations
from armgate.model.arms import Arm, ProcessLauncher
from armgate.model.evidence import Sample
from armgate.model.exchange import Exchange, Fate
from armgate.model.gates import Probe
from armgate.model.pins import ImagePin, PinState
from armgate.model.reading import read_response
from armgate.model.response import Response, Timings
from support.cases.exchanges import of_body
from support.cases.observed import ABSENT, Observed

Fields = Mapping[str, Any]
GIB = 2**30


def _observed(label: str, cause: str | None, values: Mapping[str, Any] | None = None) -> Observed:
    words = frozenset({cause} if cause else ())
    found = dict(values or {})
    outcome = "not_booted" if cause else "passed"
    return Observed(label, outcome, words, lambda name: found.get(name, ABSENT))


def _refused(label: str, check: Callable[[], object]) -> Observed:
    try:
        check()
    except BootError as error:
        return _observed(label, error.cause, error.values)
    return _observed(label, None)


def _boot_log(given: Fields) -> Iterator[Observed]:
    log = "\n".join(given["lines"])
    found = incomplete_ranks(log) if given.get("process_alive") else find_failure(log)
    assert found is not None
    yield _observed("", found.cause, found.values)


def _boot_logs(given: Fields) -> Iterator[Observed]:
    for label, variant in given["variants"].items():
        if isinstance(variant, Mapping):
            asked = {"tokenizer_revision": variant["model_revision"]}
            loaded = {"tokenizer_revision": variant["tokenizer_revision_loaded"]}
            yield _refused(label, lambda asked=asked, loaded=loaded: refuse_other_revisions(asked, loaded))
            continue
        log = "\n".join(variant)
        if "listening" in log and draft_refused(log) is not None:
            assert DRAFT_REFUSED.search(log)
            yield Observed(label, "void", frozenset({"draft_vocab_mismatch"}))
            continue
        found = find_failure(log)
        yield _observed(label, found.cause if found else None)


def _events(given: Fields) -> Iterator[Observed]:
    """A server that answers, a server that answers in parts, a host that loses its memory."""
    if "samples" in given:
        floor = int(given["guard_gib"] * GIB)
        ends = [s for s in given["samples"] if below_floor(int(s["available_gib"] * GIB), floor)]
        error = below_floor(int(ends[0]["available_gib"] * GIB), floor)
        yield _observed("", error.cause if error else None, {"abort_at_t_s": ends[0]["t_s"]})
    elif "arm" in given:
        models = next(event["body"] for event in given["events"] if "body" in event)
        yield _refused("", lambda: model_entry(models, given["arm"]["served_model_name"]))
    else:
        statuses = [
            (event["t_s"], [v for k, v in event.items() if k.startswith("GET")]) for event in given["events"]
        ]
        ready = next(at for at, seen in statuses if listens(seen))
        yield _observed("", None, {"ready_at_s": ready})


def _event_variants(given: Fields) -> Iterator[Observed]:
    for label, variant in given["variants"].items():
        if "expected" in given:
            yield _refused(label, lambda variant=variant: _image(given["expected"], variant))
            continue
        now = float(variant["last_log_age_s"])
        watch = StallWatch(0.0, {LOG: 1, "written": 0, "gpu": 0})
        growth = {
            "written": variant["cache_dir_growth_bytes_last_60s"],
            "gpu": variant["gpu_mem_growth_bytes_last_60s"],
        }
        watch.observe(now, {LOG: 1, **growth})
        stalled = watch.still_s(now) > given["deadline_s"]
        yield _observed(label, "log_silence") if stalled else Observed(label, "none_due", frozenset())


def _digest(short: str) -> str:
    return "sha256:" + short.removeprefix("sha256:").ljust(64, "0")


def _image(expected: Fields, variant: Fields) -> None:
    name, _, _ = expected["image"].partition(":")
    pin = ImagePin(image=name, digest=_digest(expected["digest"]))
    seen = []
    if "resolved_digest" in variant:
        seen = [{"id": None, "repo_digests": [f"{name}@{_digest(variant['resolved_digest'])}"]}]
    check = check_image("image", "image", pin, seen)
    if check.state is PinState.DIFFERS:
        raise BootError("pin_drift", check.method)


def _chat(given: Fields) -> Iterator[Observed]:
    for label, variant in given["variants"].items():
        response = read_response(of_body(None, variant["status"], variant["body"]))
        yield _observed(label, first_token_cause(str(response.errors[0].message)))


def _timings(given: Fields) -> Iterator[Observed]:
    """The first request after the boot is cold; a line of the log marks another."""
    ttfts = given["ttft_ms"]
    lines = {int(n): compiled_line(line) for n, line in given["log"].items()}
    samples = [_timed(n, ttft, lines.get(n)) for n, ttft in enumerate(ttfts)]
    launcher = ProcessLauncher(kind="process", python="p")
    arm = Arm(name="a", engine="vllm", launcher=launcher, target="t", reference="a")
    figures = by_probe(samples, arm, samples)["p"]["ttft"]
    named = [finding.evidence[0] for finding in compilations(samples)]
    values = {
        "warmup_ttft_ms": next(ttfts[s.n] for s in samples if s.cold),
        "median_ttft_ms": round(median(figures["values"]) * 1000, 6),
        "excluded_indices": [s.n for s in samples if s.cold],
        "flagged_indices": [s.n for s in samples if s.path in named],
    }
    yield _observed("", None, values)


def _timed(n: int, ttft_ms: float, line: str | None) -> Sample:
    return Sample(
        id=f"p.{n}",
        probe=Probe(id="p", prompt="p"),
        n=n,
        path=f"exchanges/p.{n}.jsonl",
        exchange=Exchange(request={"max_tokens": 8}, status=200, headers={}, frames=(), fate=Fate.COMPLETE),
        response=Response(content="yes", timings=Timings(ttft_s=ttft_ms / 1000)),
        cold=n == 0,
        compiled=line,
    )


BOOT_RUNNERS: dict[str, Callable[[Fields], Iterator[Observed]]] = {
    "boot_log": _boot_log,
    "boot_log_variants": _boot_logs,
    "event_sequence": _events,
    "event_sequence_variants": _event_variants,
    "http_variants": _chat,
    "timings": _timings,
}
