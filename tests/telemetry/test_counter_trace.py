import asyncio
from pathlib import Path

import pytest

from armgate.telemetry.counter_trace import CounterTrace, load_counter_trace

PAGE = b"""# HELP vllm:x y
vllm:generation_tokens_total 5.0
python_info 1.0
vllm:generation_tokens_created 9.0
"""


@pytest.mark.anyio
async def test_readings_keep_the_named_series_and_the_instant(tmp_path: Path) -> None:
    answers = iter([(200, PAGE), (None, b""), (200, PAGE)])

    async def fetch() -> tuple[int | None, bytes]:
        return next(answers, (404, b"no"))

    path = tmp_path / "telemetry" / "g.during.jsonl"
    async with CounterTrace(fetch, path, 0.01, ["vllm:generation_tokens"]) as trace:
        while len(path.read_text().splitlines()) < 4:
            await asyncio.sleep(0.01)
        trace.keep(200, PAGE, "one")
    with path.open() as lines:
        readings = list(load_counter_trace(lines))
    assert readings[0].counters.series == {"vllm:generation_tokens_total": 5.0}
    assert [reading.counters.available for reading in readings[:4]] == [True, False, True, False]
    assert readings[-1].after_probe == "one"
    times = [reading.counters.at_s for reading in readings]
    assert times == sorted(time for time in times if time is not None)


def test_a_torn_last_line_is_left_out() -> None:
    whole = '{"at_s": 1.0, "status": 200, "page": "a 1.0"}'
    assert len(list(load_counter_trace([whole, whole[:-8]]))) == 1
