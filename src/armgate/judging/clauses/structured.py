"""Clauses about structure: one JSON document, a table of comma-separated values."""

from __future__ import annotations

import csv as csv_module
import io
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from jsonschema.protocols import Validator

from armgate.judging import limits
from armgate.judging.clauses.breach import Breach, at
from armgate.judging.json_text import WHITESPACE, Path
from armgate.judging.text import Text
from armgate.model.base import Json
from armgate.model.clauses.structured import Csv, JsonDocument

_ACCEPTED = {
    "duplicate_keys": "duplicate_key",
    "big_integers": "big_integer",
    "lone_surrogates": "lone_surrogate",
}


def json_document(options: JsonDocument, text: Text) -> Iterator[Breach]:
    read = text.json
    for flaw in read.flaws:
        yield at(text, flaw.kind, flaw.message, flaw.start, flaw.end)
    if not read.readable:
        return
    accepted = {kind for option, kind in _ACCEPTED.items() if getattr(options, option) == "allowed"}
    for flaw in read.doubts:
        if flaw.kind not in accepted:
            yield at(text, flaw.kind, flaw.message, flaw.start, flaw.end)
    if options.whitespace_around == "refused" and text.value != text.value.strip(WHITESPACE):
        yield Breach("whitespace_around", "white space around the JSON value", text.all, text.channel)
    yield from _top_level(options, text)
    if options.validator is not None:
        yield from schema_breaches(options.validator, text)
    if options.has_value:
        yield from value_breaches(text, options.value, typed=options.numbers == "typed")


def _top_level(options: JsonDocument, text: Text) -> Iterator[Breach]:
    value = text.json.value
    kind = json_type(value)
    if options.top_level not in ("any", kind):
        yield Breach(
            "top_level_type", f"the value is {kind}, expected {options.top_level}", text.all, text.channel
        )
    if options.keys is None:
        return
    if not isinstance(value, dict):
        message = f"the value is {kind}, expected an object with the keys {', '.join(options.keys)}"
        yield Breach("top_level_type", message, text.all, text.channel)
        return
    for key in options.keys:
        if key not in value:
            yield Breach("missing_key", f"the key {key!r} is missing", text.all, text.channel)
    for key in value:
        if key not in options.keys:
            yield at(text, "extra_key", f"the key {key!r} is not expected", *text.json.span((key,)))


def json_type(value: Json) -> str:
    if value is None:
        return "null"
    for kind, name in ((bool, "boolean"), (str, "string"), (dict, "object"), (list, "array")):
        if isinstance(value, kind):
            return name
    return "number"


def schema_breaches(validator: Validator, text: Text) -> Iterator[Breach]:
    """Breaches of a JSON Schema by a text that was read as JSON."""
    try:
        for error in islice(validator.iter_errors(text.json.value), limits.BREACHES + 1):
            path: Path = tuple(error.absolute_path)
            kind = _schema_kind(str(error.validator), path)
            where = f"at {_dotted(path)}: " if path else ""
            yield at(text, kind, f"{where}{_clipped(error.message)}", *text.json.span(path))
    except (ArithmeticError, RecursionError, ValueError, TypeError) as error:
        yield Breach(
            "schema_not_judged", f"cannot be held against the schema: {error}", text.all, text.channel
        )


def _schema_kind(keyword: str, path: Path) -> str:
    if keyword == "type":
        return "wrong_type" if path else "top_level_type"
    return {"required": "missing_key", "additionalProperties": "extra_key"}.get(keyword, "schema")


def _clipped(message: str) -> str:
    return message if len(message) <= 300 else message[:297] + "..."


def _dotted(path: Path) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")


def value_breaches(text: Text, wanted: Json, typed: bool) -> Iterator[Breach]:
    """Where the JSON value of a text is not the wanted one, place by place."""
    for path, message in differences(text.json.value, wanted, typed):
        where = f"at {_dotted(path)}: " if path else ""
        yield at(text, "value_mismatch", f"{where}{message}", *text.json.span(path))


def differences(given: Json, wanted: Json, typed: bool, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """(path, what differs) of two JSON values. `typed`: 1 and 1.0 differ; booleans never equal numbers."""
    if isinstance(given, dict) and isinstance(wanted, dict):
        for key in wanted:
            if key not in given:
                yield path, f"the key {key!r} is missing"
        for key, value in given.items():
            if key not in wanted:
                yield (*path, key), f"the key {key!r} is not expected"
            else:
                yield from differences(value, wanted[key], typed, (*path, key))
    elif isinstance(given, list) and isinstance(wanted, list | tuple):
        if len(given) != len(wanted):
            yield path, f"{len(given)} items, expected {len(wanted)}"
        for index, (one, other) in enumerate(zip(given, wanted, strict=False)):
            yield from differences(one, other, typed, (*path, index))
    elif not _same(given, wanted, typed):
        yield path, f"expected {_shown(wanted)}, found {_shown(given)}"


def _same(given: Any, wanted: Any, typed: bool) -> bool:
    if isinstance(given, bool) or isinstance(wanted, bool) or typed:
        return type(given) is type(wanted) and bool(given == wanted)
    return bool(given == wanted)


def _shown(value: Json) -> str:
    if isinstance(value, dict | list):
        return f"{json_type(value)} of {len(value)}"
    if type(value) is int and abs(value) > 10**40:
        return "a huge integer"
    return _clipped(repr(value))


def csv(options: Csv, text: Text) -> Iterator[Breach]:
    if len(text.value) > limits.CSV_CHARS:
        yield Breach(
            "too_large", f"longer than {limits.CSV_CHARS} characters, not parsed", text.all, text.channel
        )
        return
    rows: list[tuple[int, list[str]]] = []
    reader = csv_module.reader(io.StringIO(text.value, newline=""), delimiter=options.delimiter, strict=True)
    try:
        for row in reader:
            rows.append((reader.line_num, row))
    except csv_module.Error as error:
        start, end = _line(text, reader.line_num)
        yield at(text, "not_csv", f"not a table at line {reader.line_num}: {error}", start, end)
        return
    yield from _table(options, rows, text)


def _line(text: Text, number: int) -> tuple[int, int]:
    starts = [*text.line_starts, len(text.value)]
    index = min(max(number, 1), len(starts) - 1)
    return starts[index - 1], starts[index]


def _table(options: Csv, rows: list[tuple[int, list[str]]], text: Text) -> Iterator[Breach]:
    if not any(row for _, row in rows):
        yield Breach("empty", "no row at all", text.all, text.channel)
        return
    if options.header is not None and rows[0][1] != list(options.header):
        message = f"the header is {_clipped(str(rows[0][1]))}, expected {list(options.header)}"
        yield at(text, "header", message, *_line(text, rows[0][0]))
    wanted = options.columns or (len(options.header) if options.header else len(rows[0][1]))
    yield from _ragged(rows, wanted, text)
    count = len(rows) - (options.header is not None)
    if options.rows is not None and not options.rows.holds(count):
        yield Breach("rows", f"{count} rows, expected {options.rows}", text.all, text.channel)


def _ragged(rows: Iterable[tuple[int, list[str]]], wanted: int, text: Text) -> Iterator[Breach]:
    for line, row in rows:
        if len(row) != wanted:
            message = f"{len(row)} cells in the row that ends at line {line}, expected {wanted}"
            yield at(text, "columns", message, *_line(text, line))
