"""The two clients that run in Armgate's own environment: its timed reader, and a bare aiohttp reader.

`python -m peer_bench.readers armgate|called|bare URL STREAMS REQUESTS OUT`: a process like a peer's.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path

import aiohttp

from armgate.client.send import send
from armgate.client.transport import open_client
from armgate.judging.rates import rates_of
from armgate.model.arms import Deadlines
from armgate.model.exchange import Exchange
from armgate.model.reading import read_response
from armgate.model.soundness import void_of
from peer_bench.figures import Said

BODY = {
    "model": "timing",
    "messages": [{"role": "user", "content": "Tell me a story."}],
    "stream": True,
    "stream_options": {"include_usage": True},
    "return_token_ids": True,
}


async def armgate(url: str, streams: int, requests: int, from_call: bool = False) -> Said:
    """Armgate's client as gates use it: recorded on disk, then read and judged from the record.

    `from_call` counts TTFT from the call, before the file is begun and the connection made.
    """
    exchanges: list[Exchange] = []
    with tempfile.TemporaryDirectory() as folder:
        async with open_client() as http:
            began = time.process_time()
            for first in range(0, requests, streams):
                numbers = range(first, min(first + streams, requests))
                sending = (send(http, url, dict(BODY), Path(folder) / str(n), Deadlines()) for n in numbers)
                exchanges += await asyncio.gather(*sending)
            cpu_s = time.process_time() - began
    read = [(exchange, read_response(exchange)) for exchange in exchanges]
    voids = [void_of(exchange, response) for exchange, response in read]
    sound = [
        (exchange.clock.begun_s if from_call else 0.0, rates_of(response))
        for (exchange, response), void in zip(read, voids, strict=True)
        if void is None
    ]
    return Said(
        ttfts_s=[rates.ttft_s - start_s for start_s, rates in sound if rates.ttft_s is not None],
        rates_tok_s=[v for _, rates in sound if (v := rates.decode_span_exact.value) is not None],
        reported=dict(Counter(void.cause for void in voids if void is not None)),
        cpu_s=cpu_s,
    )


async def bare(url: str, streams: int, requests: int) -> Said:
    """Nothing but aiohttp: each read is stamped, and parsed when all is over."""
    reads: list[tuple[float, list[tuple[float, bytes]]]] = []

    failed: Counter[str] = Counter()

    async def one(session: aiohttp.ClientSession) -> None:
        began, stamped = time.monotonic(), []
        try:
            async with session.post(f"{url}/v1/chat/completions", json=BODY) as answer:
                async for data in answer.content.iter_any():
                    stamped.append((time.monotonic(), data))
        except aiohttp.ClientError as error:
            failed[type(error).__name__] += 1
            return
        reads.append((began, stamped))

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        began = time.process_time()
        for first in range(0, requests, streams):
            await asyncio.gather(*(one(session) for _ in range(min(streams, requests - first))))
        cpu_s = time.process_time() - began
    parsed = [(started, _texts(stamped)) for started, stamped in reads]
    return Said(
        ttfts_s=[texts[0][0] - started for started, texts in parsed if texts],
        rates_tok_s=[
            sum(tokens for _, tokens in texts[1:]) / (texts[-1][0] - texts[0][0])
            for _, texts in parsed
            if len(texts) > 1
        ],
        reported=dict(failed),
        cpu_s=cpu_s,
    )


def _texts(stamped: list[tuple[float, bytes]]) -> list[tuple[float, int]]:
    """Arrival and number of tokens of each delta with text."""
    found, rest = [], b""
    for at, data in stamped:
        *events, rest = (rest + data).split(b"\n\n")
        for event in events:
            if event.startswith(b"data: {"):
                choices = json.loads(event[6:]).get("choices") or []
                found += [(at, len(c["token_ids"])) for c in choices if _has_text(c["delta"])]
    return found


def _has_text(delta: dict[str, str]) -> bool:
    return bool(delta.get("content") or delta.get("reasoning"))


if __name__ == "__main__":
    name, url, streams, requests, out = sys.argv[1:]
    said = asyncio.run(
        {"armgate": armgate, "called": partial(armgate, from_call=True), "bare": bare}[name](
            url, int(streams), int(requests)
        )
    )
    Path(out).write_text(json.dumps(dataclasses.asdict(said)))
