"""JSON Schema 2020-12 for hostile instances: RE2 patterns, no network, linear `uniqueItems`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import re2
from jsonschema import Draft202012Validator, SchemaError, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend
from referencing import Registry

from armgate.model.base import Json
from armgate.model.clauses.base import compiled

Errors = Iterator[ValidationError]


def check_schema(schema: Json) -> None:
    """Raises ValueError unless `schema` is JSON Schema 2020-12 that can be judged safely."""
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        place = "/".join(str(part) for part in error.absolute_path)
        raise ValueError(f"not a JSON Schema (2020-12), at {place or 'its top'}: {error.message}") from None
    nodes = _nodes(schema)
    for node in nodes:
        _check_node(node)
    if any("patternProperties" in node for node in nodes) and any(
        "unevaluatedProperties" in n for n in nodes
    ):
        raise ValueError("unevaluatedProperties beside patternProperties is not supported")


def _nodes(schema: Json) -> list[dict[str, Any]]:
    waiting, out = [schema], []
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            out.append(node)
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node
    return out


def _check_node(node: dict[str, Any]) -> None:
    for key in ("$ref", "$dynamicRef"):
        reference = node.get(key, "#")
        if isinstance(reference, str) and not reference.startswith("#"):
            raise ValueError(f"{key} {reference!r}: a schema may refer only to itself (`#/...`)")
    patterns = [node["pattern"]] if isinstance(node.get("pattern"), str) else []
    if isinstance(node.get("patternProperties"), dict):
        patterns += node["patternProperties"]
    for pattern in patterns:
        try:
            compiled(pattern)
        except re2.error:
            raise ValueError(f"pattern {pattern!r} is not a pattern of RE2") from None


@lru_cache(maxsize=512)
def _pattern(pattern: str) -> re2._Regexp:
    return compiled(pattern)


def _found(pattern: str, text: str) -> bool:
    return _pattern(pattern).search(text.encode("utf-8", "surrogatepass")) is not None


def _judge_pattern(validator: Validator, pattern: str, instance: Json, schema: Json) -> Errors:
    if isinstance(instance, str) and not _found(pattern, instance):
        yield ValidationError(f"does not match {pattern!r}")


def _judge_pattern_properties(
    validator: Any, patterns: dict[str, Json], instance: Json, schema: Json
) -> Errors:
    if isinstance(instance, dict):
        for pattern, below in patterns.items():
            for key, value in instance.items():
                if _found(pattern, key):
                    yield from validator.descend(value, below, path=key, schema_path=pattern)


def _judge_additional(validator: Any, allowed: Json, instance: Json, schema: dict[str, Json]) -> Errors:
    if not isinstance(instance, dict):
        return
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for key, value in instance.items():
        if key in named or any(_found(pattern, key) for pattern in patterns):
            continue
        if allowed is False:
            yield ValidationError(f"the key {key!r} is not allowed", path=(key,))
        else:
            yield from validator.descend(value, allowed, path=key)


def _judge_unique(validator: Validator, unique: bool, instance: Json, schema: Json) -> Errors:
    """By canonical text, where 1 and 1.0 are one value, as in the standard; the stock test is quadratic."""
    if not unique or not isinstance(instance, list):
        return
    seen: set[str] = set()
    for index, item in enumerate(instance):
        text = json.dumps(_plain_numbers(item), sort_keys=True)
        if text in seen:
            yield ValidationError("stands twice in a list of unique items", path=(index,))
        seen.add(text)


def _plain_numbers(item: Json) -> Json:
    if isinstance(item, float) and item.is_integer():
        return int(item)
    if isinstance(item, list):
        return [_plain_numbers(below) for below in item]
    if isinstance(item, dict):
        return {key: _plain_numbers(below) for key, below in item.items()}
    return item


_TYPES: dict[str, type] = {"string": str, "boolean": bool, "array": list, "object": dict}


def _judge_items(validator: Any, items: Json, instance: Json, schema: dict[str, Json]) -> Errors:
    """Items that a short look finds valid are not walked through the whole validator, which is slow."""
    if not isinstance(instance, list):
        return
    first = len(schema.get("prefixItems", ()))
    plain = _TYPES.get(items["type"]) if isinstance(items, dict) and _is_plain(items) else None
    shortest = items.get("minLength", 0) if plain is str else 0
    for index in range(first, len(instance)):
        item = instance[index]
        sized = not shortest or (isinstance(item, str) and len(item) >= shortest)
        if plain is None or not isinstance(item, plain) or not sized:
            yield from validator.descend(item, items, path=index)


def _is_plain(items: dict[str, Json]) -> bool:
    return isinstance(items.get("type"), str) and items.keys() <= {"type", "minLength"}


_HARDENED = extend(  # type: ignore[no-untyped-call]  # jsonschema's stubs leave it untyped
    Draft202012Validator,
    {
        "pattern": _judge_pattern,
        "patternProperties": _judge_pattern_properties,
        "additionalProperties": _judge_additional,
        "uniqueItems": _judge_unique,
        "items": _judge_items,
    },
)
_TYPED_INTEGERS = extend(  # type: ignore[no-untyped-call]
    _HARDENED,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda checker, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)


def validator_of(schema: Json, integral_floats: bool = True) -> Validator:
    """A validator that never reaches outside `schema`; `integral_floats`: whether 1.0 is an integer."""
    kind = _HARDENED if integral_floats else _TYPED_INTEGERS
    validator: Validator = kind(schema, registry=Registry())
    return validator
