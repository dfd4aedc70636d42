"""The client's error at one level, from its exchanges with the server of known timing; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pydantic_core import from_json

from armgate.judging.rates import rates_of
from armgate.model.calibration import LevelError, Spread
from armgate.model.exchange import Exchange
from armgate.model.measures import Rates
from armgate.model.reading import read_response
from armgate.model.response import Response
from armgate.model.sse import DONE, parse_sse


class Truth(NamedTuple):
    """What the server says of one stream, in seconds since the last byte of the request came to it."""

    texts_s: tuple[float, ...]
    """When each text delta was written."""
    late_s: tuple[float, ...]
    """How late that was, against the schedule."""
    finish_s: float


class Compared(NamedTuple):
    """One stream as the client measured it, and as it was."""

    measured: Rates
    true: Rates
    delays_s: tuple[float, ...]
    """From the writing of each text delta to its stamp, on the one clock that both processes share."""
    late_s: tuple[float, ...]
    hand_over_s: float


def level_error(exchanges: Sequence[Exchange], streams: int, deltas_per_s: float, cpu_s: float) -> LevelError:
    """The errors over `exchanges`, which were sent `streams` at a time and cost `cpu_s` of processor time.

    Raises ValueError where an exchange did not end as the server's schedule has it.
    """
    compared = [compare(exchange) for exchange in exchanges]
    delays = [delay for one in compared for delay in one.delays_s]
    return LevelError(
        streams=streams,
        deltas_per_s=deltas_per_s,
        exchanges=len(compared),
        stamp_delay_s=Spread.of(delays),
        ttft_error_s=Spread.of([_difference(one.measured.ttft_s, one.true.ttft_s) for one in compared]),
        rate_errors=_rate_errors(compared),
        hand_over_s=Spread.of([one.hand_over_s for one in compared]),
        server_lateness_s=Spread.of([late for one in compared for late in one.late_s]),
        cpu_s_per_delta=cpu_s / len(delays),
    )


def compare(exchange: Exchange) -> Compared:
    """Raises ValueError where the exchange is not a whole stream of the server of known timing."""
    response, zero_s = read_response(exchange), exchange.clock.zero_s
    told = [from_json(event.data) for event in parse_sse(exchange.body) if event.data != DONE]
    received = next((chunk["received"] for chunk in told if "received" in chunk), None)
    if received is None or zero_s is None or not response.done_seen:
        raise ValueError(f"no whole stream of the server of known timing: {exchange.error or exchange.fate}")
    texts = [chunk for chunk in told if "due" in chunk]
    finish = next(chunk for chunk in told if any(c["finish_reason"] for c in chunk["choices"]))
    truth = Truth(
        texts_s=tuple(chunk["written"] - received for chunk in texts),
        late_s=tuple(chunk["written"] - chunk["due"] for chunk in texts),
        finish_s=finish["written"] - received,
    )
    return Compared(
        measured=rates_of(response),
        true=rates_of(as_written(response, truth)),
        delays_s=tuple(
            zero_s + delta.at_s - chunk["written"]
            for delta, chunk in zip(response.deltas, texts, strict=True)
        ),
        late_s=truth.late_s,
        hand_over_s=exchange.clock.lateness_s,
    )


def as_written(response: Response, truth: Truth) -> Response:
    """The response with the instants of writing in place of those of arrival."""
    deltas = tuple(
        delta._replace(at_s=at_s) for delta, at_s in zip(response.deltas, truth.texts_s, strict=True)
    )
    timings = response.timings.model_copy(
        update={
            "ttft_s": truth.texts_s[0],
            "last_text_s": truth.texts_s[-1],
            "finish_s": truth.finish_s,
            "wall_s": max(truth.texts_s[-1], truth.finish_s),
        }
    )
    return response.model_copy(update={"deltas": deltas, "timings": timings})


def _rate_errors(compared: Sequence[Compared]) -> dict[str, Spread]:
    """Relative errors by formula, of the streams in which both sides have the figure."""
    errors: dict[str, list[float]] = {}
    for one in compared:
        for measured, true in zip(one.measured.measures(), one.true.measures(), strict=True):
            if measured.value is not None and true.value is not None:
                errors.setdefault(measured.name, []).append(measured.value / true.value - 1.0)
    return {name: Spread.of(values) for name, values in errors.items()}


def _difference(measured_s: float | None, true_s: float | None) -> float:
    if measured_s is None or true_s is None:
        raise ValueError("a stream of the server of known timing brought no text")
    return measured_s - true_s
