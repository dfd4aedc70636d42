"""Measuring the client's own error on this machine, and keeping the figure where runs find it."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from armgate import __version__
from armgate.client.known_timing.process import timing_server
from armgate.client.send import send
from armgate.client.transport import open_client
from armgate.engines.hardware import hardware
from armgate.errors import InfrastructureError, UsageError
from armgate.judging.calibration import level_error
from armgate.model.arms import Deadlines
from armgate.model.base import Json
from armgate.model.calibration import Calibration, HeldStep, LevelError, Machine
from armgate.model.exchange import Exchange
from armgate.reporting.run_folder import write_model

STREAMS = (1, 8, 64)
PER_STREAM_S = 100.0
"""Deltas per second of one stream."""
REPEATS = {1: 5, 8: 2, 64: 2}
STEPS_PER_STREAM_S = (100.0, 150.0, 200.0, 250.0, 300.0, 400.0, 500.0, 600.0, 800.0)
"""Deltas per second of each of 64 streams, tried upwards until they are not held."""
STEP_STREAMS = 64
HELD_DELAY_S = 0.05
HELD_RATE_ERROR = 0.01
TTFT_S = 0.2

Told = Callable[[str], None]


def measure(stream_s: float, steps: bool, told: Told) -> Calibration:
    """The client's error at each level, and the highest rate held. `stream_s` is how long a stream lasts."""
    with timing_server() as url, tempfile.TemporaryDirectory(prefix="armgate-calibrate-") as folder:
        bench = _Bench(url, Path(folder), stream_s)
        bench.level(1, PER_STREAM_S, 1)
        told("warmed up")
        levels = []
        for streams in STREAMS:
            levels.append(bench.level(streams, PER_STREAM_S, REPEATS[streams]))
            told(f"{streams} streams of {PER_STREAM_S:.0f} deltas/s measured")
        return Calibration(
            armgate_version=__version__,
            created_utc=datetime.now(UTC).isoformat(timespec="seconds"),
            machine=machine(),
            levels=tuple(levels),
            steps=tuple(_steps(bench, told)) if steps else (),
        )


def _steps(bench: _Bench, told: Told) -> Iterator[HeldStep]:
    for per_stream_s in STEPS_PER_STREAM_S:
        step = judged_step(bench.level(STEP_STREAMS, per_stream_s, 1))
        told(f"{step.level.deltas_per_s:.0f} deltas/s {'held' if step.held else 'not held'}")
        yield step
        if not step.held:
            return


def judged_step(level: LevelError) -> HeldStep:
    """A rate is held where stamps follow within `HELD_DELAY_S` (99th percentile) and rates within 1 %."""
    if level.server_lateness_s.p99 > HELD_DELAY_S:
        return HeldStep(level=level, held=False, limited_by="server")
    span = level.rate_errors["decode_span"]
    held = level.stamp_delay_s.p99 <= HELD_DELAY_S and abs(span.worst) <= HELD_RATE_ERROR
    return HeldStep(level=level, held=held, limited_by=None if held else "client")


class _Bench:
    """Sends streams to the server of known timing with the client that gates use, recorded as they are."""

    def __init__(self, url: str, folder: Path, stream_s: float) -> None:
        self.url, self.folder, self.stream_s = url, folder, stream_s
        self.sent = 0

    def level(self, streams: int, per_stream_s: float, repeats: int) -> LevelError:
        schedule: dict[str, Json] = {
            "ttft_s": TTFT_S,
            "gap_s": 1.0 / per_stream_s,
            "deltas": max(2, round(self.stream_s * per_stream_s)),
            "token_ids": True,
        }
        exchanges: list[Exchange] = []
        cpu_s = 0.0
        for _ in range(repeats):
            ended, spent_s = asyncio.run(self._batch(streams, schedule))
            exchanges += ended
            cpu_s += spent_s
        try:
            return level_error(exchanges, streams, streams * per_stream_s, cpu_s)
        except ValueError as error:
            raise InfrastructureError(f"calibration at {streams} streams: {error}") from None

    async def _batch(self, streams: int, schedule: dict[str, Json]) -> tuple[list[Exchange], float]:
        """Exchanges of streams that were due together, and the processor time from then to the last end."""
        body: dict[str, Json] = {"model": "timing", "messages": [], "stream": True, "schedule": schedule}
        stems = [self.folder / str(self.sent + i) for i in range(streams)]
        self.sent += streams
        async with open_client() as http:
            due, began = time.monotonic(), time.process_time()
            sending = (send(http, self.url, body, stem, Deadlines(), scheduled_at=due) for stem in stems)
            ended = await asyncio.gather(*sending)
            return list(ended), time.process_time() - began


def machine() -> Machine:
    return Machine(
        processor=str(hardware()["processor"]),
        cores=len(os.sched_getaffinity(0)),
        python=platform.python_version(),
        aiohttp=version("aiohttp"),
    )


def calibration_path() -> Path:
    """Where this machine's figure is kept: in the user's state folder, which several hosts may share.

    The name is a keyed digest of the machine's id: it tells hosts apart and names none.
    """
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    ident = _machine_id() or platform.node()
    about = machine()
    told = f"{ident} {about.processor} {about.cores}".encode()
    name = hmac.new(b"armgate/calibration", told, hashlib.sha256).hexdigest()[:16]
    return Path(state) / "armgate" / "calibration" / f"{name}.json"


def store(calibration: Calibration) -> Path:
    path = calibration_path()
    write_model(path, calibration)
    return path


def stored() -> Calibration | None:
    """This machine's figure, `None` where it was never measured. Raises UsageError for a damaged file."""
    path = calibration_path()
    try:
        return Calibration.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} is no calibration: {error}; `armgate calibrate` writes it anew") from None


def _machine_id() -> str:
    try:
        return Path("/etc/machine-id").read_text("utf-8", "replace").strip()
    except OSError:
        return ""
