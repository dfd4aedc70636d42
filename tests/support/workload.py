"""Answers to measure judging with: two kilobytes of the kind that a contract asks for, and hostile ones."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from armgate.judging.examples import subject_of
from armgate.model.contract import Contract
from armgate.model.response import Response

SIZE = 2000
_WORDS = (
    "the", "of", "and", "to", "in", "is", "that", "it", "for", "was", "on", "are", "with", "by", "this",
    "from", "bridge", "stone", "river", "water", "built", "pier", "arch", "foundation", "wooden",
    "centring", "laid", "keystone", "mason", "lime", "mortar", "careful", "slow", "season", "current",
    "depth", "span", "road",
)  # fmt: skip


def _prose() -> str:
    rng = random.Random(37)
    sentences: list[str] = []
    while len(" ".join(sentences)) < SIZE:
        sentences.append(" ".join(rng.choices(_WORDS, k=rng.randint(8, 16))).capitalize() + ".")
    return " ".join(sentences)[:SIZE]


PROSE = _prose()
KOREAN = (
    "돌다리는 강바닥 아래의 기초 위에 세운 교각에서 시작하며 석공은 아치를 나무틀 위에 차례로 쌓습니다. " * 40
)

CLAUSES_WITHOUT_PARSER: list[dict[str, Any]] = [
    {"finish": {}},
    {"answered": {}},
    {"reasoning": {"presence": "forbidden"}},
    {"tool_calls": {"count": 0}},
    {"exact": {"text": PROSE}},
    {"contains": {"texts": [PROSE[-40:]]}},
    {"not_contains": {"texts": ["sorry", "cannot"]}},
    {"regex": {"pattern": "MARK-[0-9]+", "match": "never"}},
    {"length": {"characters": {"max": 4000}, "bytes": {"max": 4000}}},
    {"length": {"words": {"min": 5}}},
    {"length": {"lines": {"min": 1}}},
    {"script": {"mostly": ["Latin"]}},
    {"no_fence": {}},
    {"no_reasoning_leak": {}},
    {"no_special_tokens": {}},
    {"no_replacement_characters": {}},
    {"no_invisible_characters": {}},
    {"no_degeneration": {}},
]


def _python(name: str) -> str:
    """A function as models write them: a docstring, a comment to every third line, short statements."""
    lines = [
        f"def {name}(intervals: list[list[int]]) -> list[list[int]]:",
        '    """Merge closed intervals that overlap or touch.',
        "",
        "    The input is not mutated, and the result shares no list with it.",
        '    """',
        "    merged: list[list[int]] = []",
    ]
    while sum(map(len, lines)) < SIZE - 100:
        lines += [
            "    # Sorted by start, an interval can only meet the last one that was merged.",
            "    for start, end in sorted(intervals):",
            "        if merged and start <= merged[-1][1]:",
            "            merged[-1][1] = max(merged[-1][1], end)",
            "        else:",
            "            merged.append([start, end])",
        ]
    return "\n".join([*lines, "    return merged", ""])


def _json() -> str:
    items = [{"name": f"item {number}", "price": number * 1.5, "tags": ["a", "b"]} for number in range(32)]
    return json.dumps({"items": items})[: SIZE * 2]


MADE: dict[str, Callable[[], str]] = {
    "raw-python": lambda: _python("merge_intervals"),
    "raw-python-is-even": lambda: _python("is_even").replace("intervals: list[list[int]]", "n"),
    "python-source": lambda: _python("f"),
    "one-code-block": lambda: f"```python\n{_python('f')}```\n",
    "one-python-block": lambda: f"Here it is:\n\n```python\n{_python('f')}```\n\nIt merges.\n",
    "json-object": _json,
    "json-strings": lambda: json.dumps([f"term {number}" for number in range(150)]),
    "csv-name-age": lambda: "name,age\n" + "".join(f"Maria {n},{n % 90}\n" for n in range(150)),
    "bullet-list": lambda: "".join(f"- {PROSE[n * 200 : n * 200 + 190]}\n" for n in range(10)),
    "sql-select": lambda: (
        "SELECT name FROM people WHERE " + " OR ".join(f"id = {n}" for n in range(180)) + ";"
    ),
    "korean-prose": lambda: KOREAN[: SIZE // 2],
}


def answer_of_two_kilobytes(contract: Contract) -> Response:
    """Two kilobytes of what the contract asks for; where it asks for a short answer, its own example."""
    if contract.id in MADE:
        return Response(content=MADE[contract.id](), finish_reason="stop")
    names = {clause.name for clause in contract.clauses}
    if (
        names & {"exact", "json", "tool_calls", "tool_round_trip", "regex", "csv"}
        or contract.id == "one-line"
    ):
        return subject_of(contract.examples.passing[0]).response
    return Response(content=PROSE, finish_reason="stop")


TEN_MEGABYTES = 10 * 1024 * 1024
HOSTILE: dict[str, Callable[[], str]] = {
    name: lambda piece=piece: piece * (TEN_MEGABYTES // len(piece.encode("utf-8", "surrogatepass")) + 1)
    for name, piece in {
        "backticks": "`",
        "fences": "```\n",
        "nested arrays": "[",
        "nested objects": '{"a":',
        "opening markers": "<think>",
        "one letter": "a",
        "blanks": " ",
        "unseen letters": "x\u200b",
        "lone surrogates": "\ud83d",
        "joined emoji": "👩\u200d👩",
        "ordinary words": "the of and bridge ",
        "statements": "x=1\n",
        "numbers": "1,",
    }.items()
}
"""Ten megabytes each of what costs some parser or search dear."""
