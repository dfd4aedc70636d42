"""Published evidence in the form of Weschera's GLM experiment: parsed event streams beside result files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from armgate.errors import DeclarationError, Problem
from armgate.model.base import Json
from armgate.model.exchange import Clock, Exchange, Fate, Frame
from armgate.model.published import Contradiction, Figure, Origin, PublishedArm, PublishedProbe
from armgate.model.reading import read_response
from armgate.model.response import Response, ToolCall, Usage

STREAM = "-stream.jsonl"
RESULT = "-result.json"
NOTE = "-result.NOTE.txt"
REQUEST = "-request.json"
REPORT = "quality-report.json"
COMPARISON = "comparison.json"


def load_published(folder: Path) -> dict[str, PublishedArm]:
    """The arms of a published experiment by name; DeclarationError where the folder is none."""
    arms = {}
    for report in sorted(folder.glob(f"*/{REPORT}")):
        arms[report.parent.name] = _arm(folder, report.parent)
    if not arms:
        raise DeclarationError([Problem(folder, None, None, "", f"holds no arm with a {REPORT}")])
    return arms


def _arm(root: Path, folder: Path) -> PublishedArm:
    names = {file.name.removesuffix(end) for end in (STREAM, RESULT, NOTE) for file in folder.glob(f"*{end}")}
    report = _object(folder / REPORT)
    flags = {key: value for key, value in report.items() if isinstance(value, bool)}
    return PublishedArm(
        name=folder.name,
        probes={name: _probe(root, folder, name) for name in sorted(names)},
        strict_failures=tuple(report.get("strict_failures", ())),
        flags=flags,
        contradictions=tuple(_contradictions(root, folder, flags)),
    )


def _contradictions(root: Path, folder: Path, flags: Mapping[str, Json]) -> Iterator[Contradiction]:
    """Flags that the comparison over arms gives another value; the arm's own report is used."""
    rows = _json(root / COMPARISON) if (root / COMPARISON).is_file() else []
    for row in rows if isinstance(rows, list) else []:
        if not isinstance(row, dict) or row.get("variant") != folder.name:
            continue
        for key, value in flags.items():
            if isinstance(row.get(key), bool) and row[key] != value:
                yield Contradiction(
                    what=key,
                    used=value,
                    used_from=f"{folder.name}/{REPORT}",
                    other=row[key],
                    other_from=COMPARISON,
                )


def _probe(root: Path, folder: Path, label: str) -> PublishedProbe:
    result, result_file = _result(folder, label)
    stream = folder / f"{label}{STREAM}"
    exchange = _exchange(root, folder, label, stream, result) if stream.is_file() else None
    response = _printed(result) if exchange is None else read_response(exchange)
    ttft_s = _ttft(response, stream if exchange is not None else None, result, result_file)
    wall_s = Figure(value=result.get("wall_s"), origin=Origin.PUBLISHED, file=result_file)
    files = [file for file in (stream.name if exchange is not None else None, result_file) if file]
    return PublishedProbe(
        label=label,
        response=response,
        exchange=exchange,
        ttft_s=ttft_s,
        wall_s=wall_s,
        decode_tok_s=_rate(response, 1, ttft_s.value, wall_s, result.get("decode_est_tps")),
        end_to_end_tok_s=_rate(response, 0, 0.0, wall_s, result.get("end_to_end_tps")),
        files=tuple(files),
    )


def _result(folder: Path, label: str) -> tuple[dict[str, Json], str | None]:
    """The printed result; of one that was too long to keep, the fields that the note beside it quotes."""
    file, note = folder / f"{label}{RESULT}", folder / f"{label}{NOTE}"
    if file.is_file():
        return _object(file), file.name
    if note.is_file():
        _, found, tail = note.read_text(encoding="utf-8").partition('\n  "thinking":')
        if found:
            text = '{"thinking":' + tail.partition("\n}")[0] + "}"
            return _parsed(text, note), note.name
    return {}, None


def _exchange(root: Path, folder: Path, label: str, stream: Path, result: Mapping[str, Json]) -> Exchange:
    """The exchange that the parsed events tell of. Their times are those at which they were handled."""
    frames = []
    for number, line in enumerate(stream.read_text(encoding="utf-8").splitlines(), start=1):
        entry = _parsed(line, stream, number)
        at_s = entry.get("elapsed_s")
        if not isinstance(at_s, int | float):
            problem = Problem(stream, number, None, "elapsed_s", f"expected seconds, found {at_s!r}")
            raise DeclarationError([problem])
        data = json.dumps(entry.get("event"))
        frames.append(Frame(float(at_s), f"data: {data}\n\n".encode()))
    wall_s = result.get("wall_s")
    if result.get("sse_done") and isinstance(wall_s, float):
        frames.append(Frame(wall_s, b"data: [DONE]\n\n"))
    requests = (folder / f"{label}{REQUEST}", root / f"{label}{REQUEST}")
    request = next((_object(file) for file in requests if file.is_file()), {})
    return Exchange(
        request=request,
        status=200,
        headers={},
        frames=tuple(frames),
        fate=Fate.COMPLETE,
        clock=Clock(end_s=frames[-1].at_s if frames else None),
    )


def _printed(result: Mapping[str, Json]) -> Response:
    """The response as a result file prints it. Empty texts there may have been null on the wire."""
    usage = result.get("usage") or {}
    calls = tuple(
        ToolCall(
            index=index,
            id=call.get("id"),
            name=call["function"]["name"],
            arguments=call["function"]["arguments"],
        )
        for index, call in enumerate(result.get("tool_calls", ()))
    )
    return Response(
        content=result.get("content"),
        reasoning=result.get("reasoning") or None,
        tool_calls=calls,
        finish_reason=result.get("finish_reason"),
        usage=Usage(
            prompt_tokens=usage.get("prompt_tokens"),
            completion_tokens=usage.get("completion_tokens"),
            total_tokens=usage.get("total_tokens"),
            as_sent=dict(usage),
        ),
    )


def _ttft(
    response: Response, stream: Path | None, result: Mapping[str, Json], result_file: str | None
) -> Figure:
    printed = result.get("ttft_s")
    if stream is None:
        return Figure(value=printed, origin=Origin.PUBLISHED, file=result_file)
    return Figure(value=response.timings.ttft_s, origin=Origin.STREAM, file=stream.name, published=printed)


def _rate(response: Response, less: int, start_s: float | None, wall_s: Figure, published: Json) -> Figure:
    """Tokens, `less` of them taken off, over the time from `start_s`. Only the authors had the wall time."""
    tokens = response.usage.completion_tokens if response.usage else None
    value = None
    if tokens is not None and start_s is not None and wall_s.value is not None:
        value = (tokens - less) / (wall_s.value - start_s)
    return Figure(value=value, origin=Origin.PUBLISHED, file=wall_s.file, published=published)


def _object(file: Path) -> dict[str, Json]:
    value = _json(file)
    if not isinstance(value, dict):
        raise DeclarationError([Problem(file, 1, None, "", "expected a JSON object")])
    return value


def _json(file: Path) -> Json:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DeclarationError([Problem(file, None, None, "", f"cannot be read as JSON: {error}")]) from None


def _parsed(text: str, file: Path, line: int | None = None) -> dict[str, Json]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DeclarationError([Problem(file, line, None, "", f"not JSON: {error}")]) from None
    if not isinstance(value, dict):
        raise DeclarationError([Problem(file, line, None, "", "expected a JSON object")])
    return value
