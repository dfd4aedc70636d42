"""Asking again where no answer came and the gate allows it; every attempt is entered and recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from armgate.client.journal import Journal
from armgate.model.exchange import Exchange
from armgate.model.retries import Retries, may_be_repeated
from armgate.reporting.run_folder import BootFolder

Send = Callable[[Path], Awaitable[Exchange]]


async def attempted(
    send: Send,
    first: Path,
    retries: Retries | None,
    folder: BootFolder,
    ledger: Journal,
    ended: asyncio.Event,
) -> Exchange:
    """The last attempt made. Attempts after the first stand beside it as `<stem>.attempt-<k>`; none is made
    of a server that has ended."""
    exchange = await send(first)
    for number, wait_s in enumerate(retries.waits_s() if retries is not None else (), start=1):
        if not may_be_repeated(exchange) or ended.is_set():
            break
        await asyncio.sleep(wait_s)
        stem = first.with_name(f"{first.name}.attempt-{number}")
        of, path = (f"{folder.relative(one)}.jsonl" for one in (first, stem))
        ledger.append({"event": "exchange_again", "of": of, "attempt": number, "path": path})
        exchange = await send(stem)
    return exchange
