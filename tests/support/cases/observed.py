"""What the product makes of one incident: outcome, words for its reasons, values by the corpus's names."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable
from typing import Any

from armgate.judging.contract import judge_exchange
from armgate.judging.fences import extract_fenced_block, read_fences
from armgate.judging.leaks import find_leaks
from armgate.judging.loops import blank_runs
from armgate.judging.rates import rates_of
from armgate.model.contract import Contract
from armgate.model.exchange import Exchange
from armgate.model.judgement import Judgement
from armgate.model.reading import read_response
from armgate.model.response import Response
from armgate.model.soundness import Asked, void_of

ABSENT = object()


@dataclasses.dataclass(frozen=True)
class Observed:
    """One variant of one case. `outcome` is one of the five words, `words` stable words that were said."""

    label: str
    outcome: str
    words: frozenset[str]
    values: Callable[[str], Any] = lambda name: ABSENT
    flags: tuple[str, ...] = ()
    judgement: Judgement | None = None
    exchange: Exchange | None = None
    response: Response | None = None


def observe(label: str, contract: Contract, exchange: Exchange, asked: Asked | None = None) -> Observed:
    """Read, check for soundness and judge, as `armgate check` does."""
    response = read_response(exchange)
    judged = judge_exchange(contract, exchange, response, void_of(exchange, response, asked))
    words = {violation.clause for violation in judged.violations}
    words |= {f"{violation.clause}:{violation.kind}" for violation in judged.violations}
    words |= {finding.kind for finding in judged.findings} | ({judged.cause} if judged.cause else set())
    return Observed(
        label=label,
        outcome=judged.outcome.value,
        words=frozenset(words),
        values=lambda name: value_of(name, exchange, response),
        # Doubts about the usage are findings; what is left is about the stream.
        flags=tuple(flag for flag in response.flags if flag not in words),
        judgement=judged,
        exchange=exchange,
        response=response,
    )


def value_of(name: str, exchange: Exchange, response: Response) -> Any:
    """A value under the corpus's name for it, by public functions alone; ABSENT for an unknown name."""
    reader = VALUES.get(name)
    return ABSENT if reader is None else reader(exchange, response)


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 6)


def _decode_tps(exchange: Exchange, response: Response) -> float | None:
    return rates_of(response, exchange.cap_tokens).decode_span.value


def _decode_window_ms(exchange: Exchange, response: Response) -> float | None:
    timings = response.timings
    if timings.ttft_s is None or timings.last_text_s is None:
        return None
    return _ms(timings.last_text_s - timings.ttft_s)


def _usage(name: str) -> Callable[[Exchange, Response], Any]:
    return lambda exchange, response: getattr(response.usage, name, None)


def _compiles(exchange: Exchange, response: Response) -> bool:
    block = extract_fenced_block(response.content or "")
    try:
        ast.parse(block[0] if block else "(")
    except SyntaxError:
        return False
    return True


def _code(exchange: Exchange, response: Response) -> str | None:
    block = extract_fenced_block(response.content or "")
    return block[0] if block else None


def _blocks(closed: bool | None) -> Callable[[Exchange, Response], int]:
    return lambda exchange, response: sum(
        closed is None or block.closed is closed for block in read_fences(response.content or "").blocks
    )


def _error_detail(name: str) -> Callable[[Exchange, Response], Any]:
    return lambda exchange, response: response.errors[0].details.get(name)


VALUES: dict[str, Callable[[Exchange, Response], Any]] = {
    "content": lambda exchange, response: response.content,
    "reasoning": lambda exchange, response: response.reasoning,
    "finish_reason": lambda exchange, response: response.finish_reason,
    "finish_reason_reported": lambda exchange, response: response.finish_reason,
    "effective_stop": lambda exchange, response: response.effective_stop(exchange.cap_tokens),
    "completion_tokens": _usage("completion_tokens"),
    "prompt_tokens": _usage("prompt_tokens"),
    "reasoning_tokens": _usage("reasoning_tokens"),
    "usage_trusted": _usage("trusted"),
    "decode_tps": _decode_tps,
    "decode_window_ms": _decode_window_ms,
    "ttft_first_token_ms": lambda exchange, response: _ms(response.timings.ttft_s),
    "ttft_first_content_ms": lambda exchange, response: _ms(response.timings.first_content_s),
    "chunks_with_text": lambda exchange, response: len(response.deltas),
    "replacement_chars": lambda exchange, response: (response.content or "").count("\ufffd"),
    "leaked_reasoning_chars": lambda exchange, response: sum(
        leak.leaked for leak in find_leaks((response.content or "").encode())
    ),
    "whitespace_runaway": lambda exchange, response: any(blank_runs(response.content or "", 120)),
    "blocks": _blocks(None),
    "blocks_closed": _blocks(True),
    "blocks_open": _blocks(False),
    "code": _code,
    "code_compiles": _compiles,
    "n_prompt_tokens": _error_detail("n_prompt_tokens"),
    "n_ctx": _error_detail("n_ctx"),
}
