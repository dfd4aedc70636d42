"""From an incident to what the product makes of it: one function per input kind, told apart by its fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from armgate.model.soundness import Asked
from support.cases.attempts import attempts
from support.cases.boots import BOOT_RUNNERS
from support.cases.contracts import contract_for
from support.cases.corpus import Case, NotCovered
from support.cases.crashes import engine_crash
from support.cases.exchanges import of_body, of_events, of_message, of_reads, of_stream
from support.cases.measured import MEASURED_RUNNERS
from support.cases.metrics import METRICS_RUNNERS
from support.cases.observed import Observed, observe
from support.cases.speculation import boot_logs
from support.cases.windows import WINDOW_RUNNERS, mislabelled

Fields = Mapping[str, Any]
CHAT_FIELDS = frozenset({"content", "finish_reason", "usage", "message"})


def run(case: Case) -> list[Observed]:
    """Everything that the case asks to be observed, or NotCovered."""
    runner = BY_CATEGORY.get(case.category, RUNNERS).get(case.kind)
    if runner is None:
        raise NotCovered
    observed = list(runner({**case.input, **_policies(case)}))
    if not observed:
        raise NotCovered
    return observed


def _policies(case: Case) -> dict[str, Any]:
    """A case that expects a verdict per policy is judged under each."""
    return {"policies": list(case.expected["by_policy"])} if "by_policy" in case.expected else {}


def _http_json(given: Fields) -> Iterator[Observed]:
    body = given["body"]
    if "estimator" in given.get("probe", {}):
        yield from mislabelled(given)
        return
    if not isinstance(body, Mapping) or "probe" in given:
        return
    yield observe("", contract_for(given), of_body(given.get("request"), given["status"], body))


def _sse(given: Fields) -> Iterator[Observed]:
    for policy in given.get("policies", [None]):
        exchange = of_stream(given["body"], given.get("request"))
        yield observe(policy or "", contract_for(given, policy), exchange)


def _sse_variants(given: Fields) -> Iterator[Observed]:
    for label, body in given["variants"].items():
        yield observe(label, contract_for(given), of_stream(body))


def _sse_timed(given: Fields) -> Iterator[Observed]:
    yield observe("", contract_for(given), of_events(given["events"], given.get("then")))


def _sse_reads(given: Fields) -> Iterator[Observed]:
    yield observe("", contract_for(given), of_reads(given["chunks_b64"], given.get("tail", "")))


def _answer(given: Fields) -> Iterator[Observed]:
    yield observe("", contract_for(given), of_message(given))


def _answer_variants(given: Fields) -> Iterator[Observed]:
    shared = {name: given[name] for name in given.keys() - {"variants"}}
    for label, variant in given["variants"].items():
        fields = {**shared, **variant}
        yield observe(label, contract_for(fields), of_message(fields))


def _answer_table(given: Fields) -> Iterator[Observed]:
    policies = given.get("policies", [None])
    for number, row in enumerate(given["rows"]):
        for policy in policies:
            label = f"row {number}" if policy is None else f"row {number} {policy}"
            contract = contract_for(given, policy)
            yield observe(label, contract, of_message({"content": row[0], "finish_reason": "stop"}))


def _outgoing_request(given: Fields) -> Iterator[Observed]:
    exchange = of_body(given["body_wrong"], 200, given["response_to_wrong"])
    yield observe("", contract_for(given), exchange, Asked(thinking=given["arm"]["thinking"]))


def _http_sequence(given: Fields) -> Iterator[Observed]:
    if "attempts" in given:
        yield from attempts(given["attempts"])
    for number, body in enumerate(given.get("same_prompt_three_times", ())):
        fields = {"content": "a text", "finish_reason": "stop", **body}
        yield observe(f"item {number}", contract_for(given), of_message(fields))


def _http_variants(given: Fields) -> Iterator[Observed]:
    probe = given.get("probe", {})
    for label, variant in given["variants"].items():
        answer = variant.get("response", variant)
        if isinstance(answer.get("body"), str) or not (CHAT_FIELDS & answer.keys() or "body" in answer):
            return
        sent = probe.get("depth_tokens_by_tokenizer", variant.get("probe_depth"))
        # An arm that is asked for this depth promises a window that holds it.
        asked = Asked(prompt_tokens=sent, window_tokens=None if sent is None else 2 * sent)
        if answer.get("status", 200) == 200:
            exchange = of_message(answer, variant.get("request"))
        else:
            body = answer.get("body", {"object": "error", "message": answer.get("message")})
            asked = asked if sent else Asked(window_tokens=1 << 20)
            exchange = of_body(variant.get("request"), answer["status"], body)
        yield observe(label, contract_for(given), exchange, asked)


RUNNERS: dict[str, Callable[[Fields], Iterator[Observed]]] = {
    "http_json": _http_json,
    "sse": _sse,
    "sse_variants": _sse_variants,
    "sse_timed": _sse_timed,
    "sse_chunks_b64": _sse_reads,
    "answer": _answer,
    "answer_variants": _answer_variants,
    "answer_table": _answer_table,
    "outgoing_request": _outgoing_request,
    "http_sequence": _http_sequence,
    "http_variants": _http_variants,
    "boot_log_variants": boot_logs,
    "event_sequence": engine_crash,
    **MEASURED_RUNNERS,
}

BY_CATEGORY = {
    "4-metrics": METRICS_RUNNERS,
    "6-boot": BOOT_RUNNERS,
    "7-long-context": {**RUNNERS, **WINDOW_RUNNERS},
}
"""Categories whose inputs look like exchanges and are none: pages of metrics, answers before readiness."""
