"""Readiness: the right listener, the right model, and one real token; `/health` alone proves nothing."""

from __future__ import annotations

import asyncio
import dataclasses
import re
import time
from collections.abc import Callable, Mapping, Sequence

import httpx

from armgate.engines.failures import Failure, incomplete_ranks
from armgate.engines.listening import foreign
from armgate.engines.progress import LOG, StallWatch
from armgate.engines.protocol import MODELS, Engine
from armgate.engines.server import Listener, Server
from armgate.errors import BootError
from armgate.model.arms import Deadlines
from armgate.model.base import Json
from armgate.small_answers import Answer, NoWholeAnswer, whole_answer

POLL_S = 0.5
PATIENCE_S = 5.0
"""For one small request; and for a server's socket to show up under its owner after it answered."""
REPORTED: tuple[str, ...] = ("id", "root", "max_model_len")
Note = Callable[[str], None]


@dataclasses.dataclass(frozen=True)
class Listening:
    """What the server says of itself before its first token."""

    model_id: str
    version: str | None
    resolved: dict[str, Json]


async def wait_until_listening(
    server: Server,
    engine: Engine,
    model_id: str | None,
    deadlines: Deadlines,
    note: Note,
    repository: str | None = None,
) -> Listening:
    """Wait for the arm's own server to answer for the right model, or raise BootError with the cause.

    Without a `model_id` the server has to offer exactly one model. `repository` is the pinned one, where a
    server that was not started here may be serving another under the right name.
    """
    headers = {"Authorization": f"Bearer {server.api_key}"} if server.api_key else {}
    async with httpx.AsyncClient(
        base_url=server.url, timeout=PATIENCE_S, trust_env=False, headers=headers
    ) as http:
        await _Wait(server, engine, deadlines, note, http).until_healthy()
        if server.port is not None and await asyncio.to_thread(server.listener) is Listener.FOREIGN:
            raise BootError("wrong_listener", f"port {server.port} is answered by another program")
        entry = model_entry(await _json(http, MODELS), model_id)
        refuse_other_root(entry, repository)
        version = engine.version_of(await _json(http, engine.version)) if engine.version else None
        answers = {path: await _json(http, path) for path in engine.tells}
    resolved: dict[str, Json] = {key: entry[key] for key in REPORTED if entry.get(key) is not None}
    return Listening(str(entry["id"]), version, resolved | engine.resolved({**answers, MODELS: entry}))


class _Wait:
    """The way to a server that answers, with all that can go wrong on it."""

    def __init__(
        self, server: Server, engine: Engine, deadlines: Deadlines, note: Note, http: httpx.AsyncClient
    ) -> None:
        self.server, self.engine, self.deadlines = server, engine, deadlines
        self.note, self.http = note, http
        self.started_s = time.monotonic()
        self.watch = StallWatch(self.started_s)
        self.log_bytes = 0

    async def until_healthy(self) -> None:
        while not await self._healthy():
            if self.server.ended.is_set():
                raise exited(self.server, self.engine)
            await asyncio.to_thread(self._look)
            self._raise_if_late(time.monotonic())
            try:
                await asyncio.wait_for(self.server.ended.wait(), POLL_S)
            except TimeoutError:
                continue

    async def _healthy(self) -> bool:
        try:
            # Either path may answer long before the other: SGLang's list of models, others' `/health`.
            answers = [await _get(self.http, path) for path in (self.engine.health, MODELS) if path]
            statuses = [answer.status for answer in answers]
        except httpx.ConnectError as error:
            if self.server.attached:
                raise BootError("unreachable", f"nothing answers at {self.server.url}: {error}") from None
            return False
        except (httpx.HTTPError, NoWholeAnswer):
            return False
        if set(statuses) & {401, 403}:
            raise BootError(
                "api_key_refused", f"{self.server.url} does not accept the key: HTTP {statuses[-1]}"
            )
        return listens(statuses)

    def _look(self) -> None:
        """Whose the port is and what has moved, while weights are still loading."""
        if self.server.port is not None and self.server.listener() is Listener.FOREIGN:
            raise foreign(self.server.port)
        signals = self.server.signals()
        if self.server.log is not None and self.server.log.exists():
            signals |= {LOG: self.server.log.stat().st_size}
        self.watch.observe(time.monotonic(), signals)
        if signals.get(LOG, 0) != self.log_bytes:
            self.log_bytes = signals[LOG]
            self.note(self.server.last_line())

    def _raise_if_late(self, now_s: float) -> None:
        over = now_s - self.started_s > self.deadlines.ready_s
        if over and (ranks := incomplete_ranks(self.server.log_text())) is not None:
            raise BootError(ranks.cause, ranks.line, ranks.values)
        last = f"; the log's last line: {line}" if (line := self.server.last_line()) else ""
        if over:
            raise BootError("ready_deadline", f"not ready within {self.deadlines.ready_s:g} s{last}")
        if not self.server.attached and self.watch.still_s(now_s) > self.deadlines.log_silence_s:
            silence = (
                f"no line in the log, nothing read, written or grown for {self.deadlines.log_silence_s:g} s"
            )
            raise BootError("log_silence", silence + last)


def exited(server: Server, engine: Engine) -> BootError:
    """Why a server ended before it was ready, by what we did to it, its log, or its exit code alone."""
    if server.fault is not None:
        return server.fault
    found = engine.failure(server.log_text())
    cause, line, values = found or Failure("exited", server.last_line() or "the log is empty")
    if server.exit_code == -9 and cause == "exited":
        # Nobody here sent it; on Linux that leaves the kernel's out-of-memory killer, or a person.
        line = f"killed from outside (out of memory?); last line: {line}"
    if server.facts.get("oom_killed"):
        cause = "out_of_memory"
    return BootError(cause, f"exit code {server.exit_code}: {line}", values)


def first_token_cause(said: str) -> str:
    """The stable word for a server that listens and refuses its first request, by the refusal's wording.

    Sources: transformers 4.44's sentence, which vLLM hands on; llama.cpp's `Loading model` with HTTP 503.
    """
    if re.search(r"chat[ _]template", said, re.I):
        return "chat_template_missing"
    return "still_loading" if re.search(r"loading model", said, re.I) else "no_first_token"


def refuse_other_root(entry: Mapping[str, Json], repository: str | None) -> None:
    """BootError where a server's `root` names another repository than the pinned one.

    A path says nothing: the same model may lie anywhere.
    """
    root = entry.get("root")
    if repository is None or not isinstance(root, str) or not re.fullmatch(r"[\w.-]+/[\w.-]+", root):
        return
    if root != repository:
        raise BootError(
            "wrong_model", f"{entry.get('id')!r} is {root} on the server, and {repository} is pinned"
        )


async def _json(http: httpx.AsyncClient, path: str) -> Json:
    try:
        answer = await _get(http, path)
        return answer.json() if answer.status == 200 else None
    except (httpx.HTTPError, NoWholeAnswer, ValueError):
        return None


async def _get(http: httpx.AsyncClient, path: str) -> Answer:
    return await whole_answer(http.stream("GET", path), PATIENCE_S)


def listens(statuses: Sequence[int]) -> bool:
    """Whether a server that answers its paths with these statuses may be asked for a first token."""
    return all(status == 200 for status in statuses)


def model_entry(models: Json, model_id: str | None) -> Mapping[str, Json]:
    """The entry of the arm's model in a server's list, or BootError: another server, or another model."""
    entries = models.get("data") if isinstance(models, dict) else None
    known = [e for e in entries or [] if isinstance(e, dict) and isinstance(e.get("id"), str)]
    ids = [entry["id"] for entry in known]
    if model_id is None and len(known) == 1:
        return known[0]
    if model_id is None:
        raise BootError("which_model", f"the server offers {ids}: name one as `model`")
    if model_id not in ids:
        raise BootError("wrong_model", f"the server offers {ids}, not {model_id!r}")
    return known[ids.index(model_id)]
