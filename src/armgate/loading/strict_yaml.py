"""Strict YAML 1.2: plain data only, duplicate keys refused, every value with its line and column."""

from __future__ import annotations

import dataclasses
import difflib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from armgate.errors import DeclarationError, Problem
from armgate.model.base import Json

M = TypeVar("M", bound=BaseModel)
Place = tuple[int, int]
KeyPath = tuple[str | int, ...]

MAX_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 64


@dataclasses.dataclass(frozen=True)
class Document:
    """Plain data of one file and where each key and item stands (line and column, from 1)."""

    data: Json
    source: Path | None
    places: Mapping[KeyPath, Place]

    def place(self, path: Sequence[str | int]) -> Place | None:
        """The place of the longest prefix of `path` that exists in the file."""
        for end in range(len(path), -1, -1):
            found = self.places.get(tuple(path[:end]))
            if found is not None:
                return found
        return None

    def problem(self, path: Sequence[str | int], message: str, hint: str | None = None) -> Problem:
        line, column = self.place(path) or (None, None)
        return Problem(self.source, line, column, dotted(path), message, hint)


def dotted(path: Sequence[str | int]) -> str:
    """`arms.depth-7.serve[0]`-like name of a key path."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else (f".{part}" if text else str(part))
    return text


def parse_document(text: str, source: Path | None = None) -> Document:
    """Read one YAML document of plain data, or raise DeclarationError with its line."""
    if len(text) > MAX_BYTES:
        raise DeclarationError([Problem(source, None, None, "", f"larger than {MAX_BYTES} bytes")])
    yaml = YAML(typ="rt", pure=True)
    yaml.allow_duplicate_keys = False
    try:
        loaded = yaml.load(text)
    except DuplicateKeyError as error:
        hint = "each key may stand once; rename or remove one"
        raise DeclarationError([_marked(error, source, hint)]) from None
    except MarkedYAMLError as error:
        raise DeclarationError([_marked(error, source, None)]) from None
    except (YAMLError, RecursionError, ValueError) as error:
        raise DeclarationError([Problem(source, None, None, "", f"not YAML 1.2: {error}")]) from None
    places: dict[KeyPath, Place] = {(): (1, 1)}
    problems: list[Problem] = []
    data = _plain(loaded, (), places, problems, source)
    if problems:
        raise DeclarationError(problems)
    return Document(data, source, places)


def _marked(error: MarkedYAMLError, source: Path | None, hint: str | None) -> Problem:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (None, None)
    said = str(error.problem or error.context or "cannot be read").splitlines()[0]
    return Problem(source, line, column, "", f"not valid YAML: {said}", hint)


def _plain(
    value: object, path: KeyPath, places: dict[KeyPath, Place], problems: list[Problem], source: Path | None
) -> Json:
    """JSON data of a loaded node; notes places and what JSON cannot say (tags, dates, NaN, odd keys)."""

    def refuse(message: str) -> None:
        line, column = places.get(path, (None, None))
        problems.append(Problem(source, line, column, dotted(path), message))

    if len(path) > MAX_DEPTH:
        return refuse(f"nested deeper than {MAX_DEPTH} levels")
    tag = getattr(value, "tag", None)
    if tag is not None and str(getattr(tag, "value", "") or ""):
        return refuse(f"tag {tag.value} is not allowed; only plain data is")
    if isinstance(value, Mapping):
        out = {}
        for key, item in value.items():
            below = (*path, str(key))
            places[below] = _place(value, key)
            if not isinstance(key, str):
                refuse(f"key {key!r} is a {type(key).__name__}; keys are text, put it in quotes")
            out[str(key)] = _plain(item, below, places, problems, source)
        return out
    if isinstance(value, list):
        items = []
        for index, item in enumerate(value):
            below = (*path, index)
            places[below] = _place(value, index)
            items.append(_plain(item, below, places, problems, source))
        return items
    try:
        return _scalar(value)
    except ValueError as error:
        return refuse(str(error))


def _scalar(value: object) -> Json:
    """The plain value of a scalar; the loader's own classes (which keep quotes and bases) are dropped."""
    if value is None or isinstance(value, bool):
        return value
    for kind in (str, int, float):
        if isinstance(value, kind):
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"{value} is not a finite number")
            return kind(value)
    raise ValueError(f"{type(value).__name__} is not plain data (put it in quotes if text is meant)")


def _place(container: object, key: object) -> Place:
    marks = getattr(container, "lc", None)
    data = getattr(marks, "data", None) or {}
    if key in data:
        return data[key][0] + 1, data[key][1] + 1
    return (getattr(marks, "line", 0) or 0) + 1, (getattr(marks, "col", 0) or 0) + 1


def validate(document: Document, model: type[M]) -> M:
    """Validate a document as `model`; all problems at once, each at its line."""
    try:
        return model.model_validate_json(json.dumps(document.data), strict=True)
    except ValidationError as error:
        problems = [_problem(document, model, detail) for detail in error.errors()]
        raise DeclarationError(dict.fromkeys(problems)) from None


def load_text(text: str, source: Path | None, model: type[M]) -> M:
    return validate(parse_document(text, source), model)


def read_text(path: Path) -> str:
    """The text of a declared file, or a DeclarationError that says why it cannot be read."""
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise DeclarationError([Problem(path, None, None, "", f"cannot be read: {error.strerror}")]) from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise DeclarationError([Problem(path, line, None, "", "is not UTF-8 text")]) from None


def load_document(path: Path) -> Document:
    return parse_document(read_text(path), path)


def _problem(document: Document, model: type[BaseModel], detail: ErrorDetails) -> Problem:
    path = _file_path(document, detail["loc"])
    where = path
    if detail["type"] == "extra_forbidden":
        name = str(detail["loc"][-1])
        return document.problem(where, "unknown key", nearest(name, _siblings(model, detail["loc"])))
    if detail["type"] == "missing":
        return document.problem(path, f"required key {detail['loc'][-1]!r} is missing")
    if detail["type"] == "value_error":
        return document.problem(path, detail["msg"].removeprefix("Value error, "))
    found = json.dumps(detail["input"], ensure_ascii=False, default=str)
    if len(found) > 80:
        found = found[:77] + "..."
    message = detail["msg"][:1].lower() + detail["msg"][1:]
    return document.problem(path, f"{message}, found {found}", _pattern_hint(path, detail))


def _pattern_hint(path: KeyPath, detail: ErrorDetails) -> str | None:
    key = path[-1] if path else ""
    if key == "revision":
        return "branches and tags move: give the full 40-hex commit (`git ls-remote` prints it)"
    if key == "digest":
        return "give sha256:<64 hex>; `docker image inspect --format '{{.RepoDigests}}'` prints it"
    if key == "image":
        return "a tag can move: give the name without tag, and `digest: sha256:...` beside it"
    return None


def _file_path(document: Document, loc: Sequence[str | int]) -> KeyPath:
    """Drop from a pydantic location what names a union's branch and not a key of the file.

    A branch may carry the name of a key (`hf`), so both readings are followed and the longer one wins.
    """

    def longest(path: KeyPath, rest: Sequence[str | int]) -> KeyPath:
        if not rest:
            return path
        skipped = longest(path, rest[1:])
        if (*path, rest[0]) not in document.places:
            return skipped
        taken = longest((*path, rest[0]), rest[1:])
        return max(taken, skipped, key=lambda path: (path[-1:] == tuple(loc[-1:]), len(path)))

    return longest((), loc)


def _siblings(model: type[BaseModel], loc: Sequence[str | int]) -> list[str]:
    """Names of fields that are allowed where an unknown key was found."""
    here: list[type[BaseModel]] = [model]
    for part in loc[:-1]:
        following = [found for one in here for found in _below(one, part)]
        here = following or here
    return sorted({field.alias or name for one in here for name, field in one.model_fields.items()})


def _below(model: type[BaseModel], part: str | int) -> list[type[BaseModel]]:
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    field = fields.get(str(part))
    return list(_models(field.annotation)) if field is not None else []


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in getattr(annotation, "__args__", ()):
        yield from _models(inner)


def nearest(name: str, allowed: Sequence[str]) -> str | None:
    """`did you mean ...` for a name that is not one of `allowed`."""
    close = difflib.get_close_matches(name, allowed, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"allowed: {', '.join(sorted(allowed))}" if allowed else None
