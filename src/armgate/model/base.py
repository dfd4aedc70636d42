"""What all model types share: frozen, strict, unknown keys refused; names and digests as types."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

import rfc8785
from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, StringConstraints, model_serializer


class Frozen(BaseModel):
    """Base of every declared or recorded type."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, ser_json_inf_nan="constants")


class AsDeclared(Frozen):
    """A type that is written as it was declared: an option left out stays out, `null` stays `null`."""

    @model_serializer(mode="wrap")
    def _declared(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = handler(self)
        aliases = {name: type(self).model_fields[name].alias for name in self.model_fields_set}
        kept = {*aliases, *aliases.values()}
        return {name: value for name, value in written.items() if name in kept}


Json: TypeAlias = Any
"""A JSON value: None, bool, int, float, str, list, dict."""

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,79}$")]
"""A name that is also a safe file name: lower case, digits, `.`, `_`, `-`."""

Sha256Hex = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Digest = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
"""`sha256:` and 64 hexadecimal digits."""


def digest_bytes(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def canonical_json(value: Json) -> bytes:
    """RFC 8785 bytes of a JSON value; integers beyond 2**53 are refused by that standard."""
    return rfc8785.dumps(value)


def digest_json(value: Json) -> str:
    return digest_bytes(canonical_json(value))


def merged(base: Mapping[str, Json], over: Mapping[str, Json], deep: frozenset[str]) -> dict[str, Json]:
    """`over` laid on `base`; keys in `deep` that are mappings on both sides are merged one level."""
    out = dict(base)
    for key, value in over.items():
        below = out.get(key)
        if key in deep and isinstance(below, Mapping) and isinstance(value, Mapping):
            out[key] = {**below, **value}
        else:
            out[key] = value
    return out
