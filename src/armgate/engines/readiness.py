"""Readiness: the right listener, the right model, and one real token; `/health` alone proves nothing."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Awaitable, Callable

import httpx

from armgate.engines.process import Server
from armgate.engines.protocol import Engine
from armgate.errors import BootError
from armgate.model.arms import Deadlines
from armgate.model.base import Json

POLL_S = 0.5
REPORTED: tuple[str, ...] = ("id", "root", "max_model_len")
Note = Callable[[str], None]


@dataclasses.dataclass(frozen=True)
class Listening:
    """What the server says of itself before its first token."""

    version: str | None
    resolved: dict[str, Json]


async def wait_until_listening(
    server: Server, engine: Engine, model_id: str, deadlines: Deadlines, note: Note
) -> Listening:
    """Wait for the arm's own server to answer for the right model, or raise BootError with the cause."""
    started = time.monotonic()
    async with httpx.AsyncClient(base_url=server.url, timeout=5.0, trust_env=False) as http:
        await _until(server, engine, deadlines, started, note, lambda: _healthy(http))
        if not await asyncio.to_thread(server.owns_listener):
            raise BootError("wrong_listener", f"port {server.port} is answered by another program")
        entry = _entry(await _json(http, "/v1/models"), model_id)
        version = engine.version_of(await _json(http, "/version"))
    resolved: dict[str, Json] = {key: entry[key] for key in REPORTED if key in entry}
    return Listening(version, resolved)


async def _until(
    server: Server,
    engine: Engine,
    deadlines: Deadlines,
    started: float,
    note: Note,
    ready: Callable[[], Awaitable[bool]],
) -> None:
    size, grew_at = 0, started
    while not await ready():
        now = time.monotonic()
        if server.ended.is_set():
            raise _exited(server, engine)
        if (grown := server.log.stat().st_size) != size:
            size, grew_at = grown, now
            note(last_line(server))
        if now - started > deadlines.ready_s:
            raise BootError("ready_deadline", f"not ready within {deadlines.ready_s:g} s")
        if now - grew_at > deadlines.log_silence_s:
            raise BootError("log_silence", f"no line in the log for {deadlines.log_silence_s:g} s")
        try:
            await asyncio.wait_for(server.ended.wait(), POLL_S)
        except TimeoutError:
            continue


def last_line(server: Server) -> str:
    with server.log.open("rb") as stream:
        stream.seek(max(0, server.log.stat().st_size - 2000))
        lines = stream.read().decode("utf-8", "replace").splitlines()
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _exited(server: Server, engine: Engine) -> BootError:
    log = server.log.read_text("utf-8", "replace")
    cause, line = engine.failure(log) or ("exited", last_line(server) or "the log is empty")
    return BootError(cause, f"exit code {server.exit_code}: {line}")


async def _healthy(http: httpx.AsyncClient) -> bool:
    try:
        return (await http.get("/health")).status_code == 200
    except httpx.HTTPError:
        return False


async def _json(http: httpx.AsyncClient, path: str) -> Json:
    try:
        answer = await http.get(path)
        return answer.json() if answer.status_code == 200 else None
    except (httpx.HTTPError, ValueError):
        return None


def _entry(models: Json, model_id: str) -> dict[str, Json]:
    entries = models.get("data") if isinstance(models, dict) else None
    ids = [entry.get("id") for entry in entries or [] if isinstance(entry, dict)]
    if model_id not in ids:
        raise BootError("wrong_model", f"the server offers {ids}, not {model_id!r}")
    entry: dict[str, Json] = (entries or [])[ids.index(model_id)]
    return entry
