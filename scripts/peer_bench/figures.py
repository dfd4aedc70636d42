"""What a client said of its requests, what the server really did, and the error between the two."""

from __future__ import annotations

import dataclasses
import json
import math
import urllib.request
from statistics import median
from typing import Any


@dataclasses.dataclass(frozen=True)
class Said:
    """A client's own figures: seconds and tokens per second, one for each request that it counts as good."""

    ttfts_s: list[float]
    rates_tok_s: list[float]
    reported: dict[str, int] = dataclasses.field(default_factory=dict)
    """Failures that the client reports, by the kind it gives them."""
    cpu_s: float | None = None
    """Processor time of the reading alone, where the client knows it."""


@dataclasses.dataclass(frozen=True)
class Run:
    """One client's run: what it said, what was true, and its processor time from start to exit."""

    said: Said
    ttft_true_s: float
    rate_true_tok_s: float
    deltas: int
    cpu_s: float
    wall_s: float
    spoiled: dict[str, int]

    def ttft_errors_ms(self) -> list[float]:
        return [1000 * (ttft_s - self.ttft_true_s) for ttft_s in self.said.ttfts_s]

    def rate_errors(self) -> list[float]:
        return [rate / self.rate_true_tok_s - 1 for rate in self.said.rates_tok_s]


class Server:
    """The server of known timing, from outside."""

    def __init__(self, url: str) -> None:
        self.url = url

    def program(self, schedule: dict[str, Any], faults: list[str]) -> None:
        """What the next requests get; the server forgets those before."""
        body = json.dumps({"schedule": schedule, "faults": faults}).encode()
        request = urllib.request.Request(f"{self.url}/schedule", data=body, method="PUT")
        urllib.request.urlopen(request).close()

    def streams(self) -> list[dict[str, Any]]:
        with urllib.request.urlopen(f"{self.url}/streams") as answer:
            told = json.load(answer)["streams"]
        return [stream for stream in told if stream["streamed"]]


def truth(streams: list[dict[str, Any]], tokens_per_delta: int) -> tuple[float, float, int]:
    """Medians of TTFT (s) and of decoding pace (tok/s) as written, over whole streams; and deltas in all.

    The pace leaves out the tokens of the first delta, which were there when its span began.
    """
    whole = [s for s in streams if s["texts"] > 1 and not s["fault"]]
    ttfts = [s["first_text"] - s["received"] for s in whole]
    spans = [(s["last_text"] - s["first_text"]) / ((s["texts"] - 1) * tokens_per_delta) for s in whole]
    if not whole:
        raise SystemExit("the client sent no request that streams")
    return median(ttfts), 1 / median(spans), sum(s["texts"] for s in streams)


def at(values: list[float], share: float) -> float | None:
    """The nearest-rank percentile; `None` of nothing."""
    ranked = sorted(values)
    return ranked[max(0, math.ceil(share * len(ranked)) - 1)] if ranked else None
