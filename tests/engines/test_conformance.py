"""One suite for all engines: each against the transcript of its own words, and what each line rests on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from ruamel.yaml import YAML

from armgate.engines.listening import free_port
from armgate.engines.protocol import Address, ArmFiles, Located
from armgate.engines.readiness import wait_until_listening
from armgate.engines.registry import ENGINES
from armgate.engines.server import Server
from armgate.errors import BootError
from armgate.judging.counters import gauge
from armgate.model.arms import Arm, Deadlines
from armgate.model.reading import read_response
from armgate.telemetry.metrics import parse_counters
from support.cases.exchanges import of_stream

FOLDER = Path(__file__).parent / "transcripts"
ORIGINS = {"recorded", "source", "synthetic"}
TARGET, DRAFT = "a" * 40, "b" * 40


def load(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = YAML(typ="safe").load(path.read_text("utf-8"))
    return found


TRANSCRIPTS = {path.stem: load(path) for path in sorted(FOLDER.glob("*.yaml"))}


def parts(transcript: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Everything of a transcript that has to say where it comes from."""
    yield transcript["answers"]
    for key in ("commands", "log", "metrics"):
        yield from transcript.get(key, ())
    yield from (variant["answers"] for variant in transcript.get("variants", ()))
    if "stream" in transcript:
        yield transcript["stream"]


def cases(key: str) -> list[Any]:
    return [
        pytest.param(ENGINES[name], case, id=f"{name}-{number}")
        for name, transcript in TRANSCRIPTS.items()
        for number, case in enumerate(transcript.get(key, ()))
    ]


def test_every_engine_has_a_transcript_and_every_transcript_an_engine() -> None:
    assert set(TRANSCRIPTS) == set(ENGINES)
    assert all(transcript["engine"] == name for name, transcript in TRANSCRIPTS.items())


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_every_line_says_what_it_rests_on_and_invented_ones_do_not_count(name: str) -> None:
    origins = [ORIGINS & part.keys() for part in parts(TRANSCRIPTS[name])]
    assert all(len(origin) == 1 for origin in origins)
    assert any(origin != {"synthetic"} for origin in origins)
    assert "synthetic" not in TRANSCRIPTS[name]["answers"]


def test_engines_that_run_here_are_recorded_here() -> None:
    for name in ("vllm", "llama-cpp"):
        assert TRANSCRIPTS[name]["answers"].get("recorded")


def arm_of(engine: Any, given: Mapping[str, Any]) -> Arm:
    arm = {"name": "a", "engine": engine.name, "target": "target", "reference": "a", **given}
    arm["launcher"] = {"kind": "attach", "url": "http://127.0.0.1:1"}
    return Arm.model_validate(arm)


@pytest.mark.parametrize(("engine", "case"), cases("commands"))
def test_settings_become_the_engines_own_words(engine: Any, case: Mapping[str, Any]) -> None:
    arm = arm_of(engine, case["arm"])
    draft = Located("draft", repository="org/draft", revision=DRAFT)
    files = ArmFiles(
        target=Located("target", repository="org/target", revision=TARGET),
        draft=draft if arm.speculative is not None and arm.speculative.draft else None,
    )
    words = list(engine.argv(arm, files, "served", Address("127.0.0.1", 8123)))
    rest = iter(words)
    for word in (TARGET if word == "TARGET" else word for word in case["words"]):
        assert word in rest, f"{word} is not in {words}, in that order"
    assert not set(case.get("without", ())) & set(words)
    if "own_depth" in case:
        assert engine.own_depth(arm) == case["own_depth"]


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_an_engine_starts_its_server_or_says_that_it_does_not(name: str) -> None:
    engine = ENGINES[name]
    files = ArmFiles(target=Located("target", repository="org/target", revision=TARGET))
    if engine.attach_only:
        with pytest.raises(BootError, match="attach"):
            engine.argv(arm_of(engine, {}), files, "served", Address("127.0.0.1", 1))
        return
    assert TRANSCRIPTS[name]["commands"]
    caches = engine.environment(arm_of(engine, {}), Path("/scratch"))
    assert [value for value in caches.values() if value.startswith("/scratch/")]


async def served(answers: Mapping[str, Any], engine: Any, model_id: str | None) -> Any:
    async def answer(request: web.Request) -> web.Response:
        found = answers.get(request.path)
        if not isinstance(found, Mapping):
            return web.json_response({"detail": "Not Found"}, status=404)
        return web.json_response(found["body"], status=found["status"])

    app = web.Application()
    app.add_routes([web.get("/{tail:.*}", answer)])
    runner = web.AppRunner(app)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        server = Server(url=f"http://127.0.0.1:{port}", ended=asyncio.Event())
        deadlines = Deadlines(ready_s=1.0)
        return await wait_until_listening(server, engine, model_id, deadlines, lambda line: None)
    finally:
        await runner.cleanup()


def spoken() -> list[Any]:
    out = []
    for name, transcript in TRANSCRIPTS.items():
        out.append(pytest.param(ENGINES[name], transcript, id=name))
        for variant in transcript.get("variants", ()):
            out.append(pytest.param(ENGINES[name], variant, id=f"{name}: {variant['name']}"))
    return out


@pytest.mark.anyio
@pytest.mark.parametrize(("engine", "told"), spoken())
async def test_what_the_server_tells_of_itself_is_read_back(engine: Any, told: Mapping[str, Any]) -> None:
    listening = await served(told["answers"], engine, None)
    assert listening.version == told["expect"]["version"]
    assert listening.resolved == told["expect"]["resolved"]


@pytest.mark.anyio
@pytest.mark.parametrize("name", TRANSCRIPTS)
async def test_another_model_than_the_arms_is_refused(name: str) -> None:
    with pytest.raises(BootError) as caught:
        await served(TRANSCRIPTS[name]["answers"], ENGINES[name], "another-model")
    assert caught.value.cause == "wrong_model"


@pytest.mark.anyio
@pytest.mark.parametrize("name", TRANSCRIPTS)
async def test_a_server_that_still_loads_is_not_ready(name: str) -> None:
    answers = dict(TRANSCRIPTS[name]["answers"])
    path = ENGINES[name].health or "/v1/models"
    answers[path] = {"status": 503, "body": {"error": {"message": "Loading model", "code": 503}}}
    with pytest.raises(BootError) as caught:
        await served(answers, ENGINES[name], None)
    assert caught.value.cause == "ready_deadline"


@pytest.mark.parametrize(("engine", "case"), cases("log"))
def test_lines_of_the_log_mean_what_the_transcript_says(engine: Any, case: Mapping[str, Any]) -> None:
    if "facts" in case:
        assert case["facts"].items() <= engine.log_facts(case["line"]).items()
        return
    found = engine.failure(f"a line before\n{case['line']}\n")
    assert (found.cause if found else None) == case["cause"]
    assert (found.values if found else {}) == case.get("values", {})


@pytest.mark.parametrize(("engine", "case"), cases("metrics"))
def test_pages_of_metrics_are_read_by_canonical_names(engine: Any, case: Mapping[str, Any]) -> None:
    page = parse_counters(case["text"], 0.0)
    assert {name: gauge(page, name) for name in case["reads"]} == case["reads"]


@pytest.mark.parametrize("name", [name for name, t in TRANSCRIPTS.items() if "stream" in t])
def test_a_recorded_stream_is_read_whole(name: str) -> None:
    stream = TRANSCRIPTS[name]["stream"]
    response = read_response(of_stream(stream["text"]))
    assert response.content == stream["content"]
    assert (response.usage is not None) == stream["usage"]
