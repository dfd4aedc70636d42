"""Scrapes a server's counters around and during each gate, at rest where it comes to rest."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

from armgate.client.journal import Journal
from armgate.client.scrape import HttpClient, Scrape, scrape
from armgate.judging.counters import TRACED, counter_deltas, gauge
from armgate.model.base import Json
from armgate.model.evidence import Counters
from armgate.reporting.run_folder import BootFolder, write_atomically
from armgate.telemetry.counter_trace import CounterTrace
from armgate.telemetry.metrics import parse_counters

INTERVAL_S = 1.0
SETTLE_S = 2.0
"""How long a server gets to come to rest and to count what it has already answered."""
POLL_S = 0.05


class CounterWatch:
    """One boot's scrapes. An engine counts a request a moment after it has answered it, so a page is taken
    as the gate's last only when nothing runs and as many requests are counted as were answered."""

    def __init__(self, http: HttpClient, url: str, folder: BootFolder, ledger: Journal) -> None:
        self._http, self._url = http, f"{url}/metrics"
        self._folder, self._ledger = folder, ledger
        self._before: Counters | None = None
        self._trace: CounterTrace | None = None
        self.answered = 0
        """Requests of the gate under way that were answered whole."""

    @contextlib.asynccontextmanager
    async def gate(self, gate: str) -> AsyncIterator[None]:
        """Counters before and after the block, and readings while it runs. No `after` where it raises."""
        self.answered = 0
        self._before = await self._around(gate, "before", None)
        path = self._folder.telemetry / f"{gate}.during.jsonl"
        async with CounterTrace(self._fetch, path, INTERVAL_S, TRACED) as trace:
            self._trace = trace
            yield
        await self._around(gate, "after", self._before)

    async def after_probe(self, probe: str) -> None:
        """A reading at rest between two probes, so that each has figures of its own."""
        assert self._trace is not None
        if self._before is not None and self._before.available:
            page, _ = await self._at_rest(self._before)
            self._trace.keep(page.status, page.body, probe)

    async def _fetch(self) -> tuple[int | None, bytes]:
        page = await scrape(self._http, self._url)
        return page.status, page.body

    async def _around(self, gate: str, when: str, since: Counters | None) -> Counters:
        page, counters = await self._at_rest(since)
        entry: dict[str, Json] = {"event": "counters", "gate": gate, "when": when, "at_s": counters.at_s}
        if page.status is None:
            self._ledger.append(entry | {"status": None, "error": page.error})
            return counters
        path = self._folder.telemetry / f"{gate}.{when}.prom"
        write_atomically(path, page.body)
        self._ledger.append(entry | {"status": page.status, "path": self._folder.relative(path)})
        return counters

    async def _at_rest(self, since: Counters | None) -> tuple[Scrape, Counters]:
        """The first page at rest, or the last one where the server does not come to rest in time."""
        until = time.monotonic() + SETTLE_S
        while True:
            at_s = time.monotonic()
            page = await scrape(self._http, self._url)
            # A long page takes tens of milliseconds to parse, which stamps of open streams must not pay for.
            counters = await asyncio.to_thread(_parsed, page, at_s)
            if not counters.available or at_s > until or self._rests(since, counters):
                return page, counters
            await asyncio.sleep(POLL_S)

    def _rests(self, since: Counters | None, now: Counters) -> bool:
        if any(gauge(now, name) for name in ("running", "waiting")):
            return False
        counted = counter_deltas(since, now).requests if since is not None else None
        return counted is None or counted >= self.answered


def _parsed(page: Scrape, at_s: float) -> Counters:
    if page.status is None:
        return Counters(available=False, reason=page.error, at_s=at_s)
    return parse_counters(page.body.decode("utf-8", "replace"), at_s, page.status)
