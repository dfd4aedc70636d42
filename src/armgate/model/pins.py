"""Pins: a name plus an immutable identity. Asked in the campaign, observed at the boot."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, TypeAlias

from pydantic import Discriminator, Field, StringConstraints, Tag

from armgate.model.base import Digest, Frozen, Json, Name, Sha256Hex

Revision = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
"""A full commit id: 40 hexadecimal digits. Branches and tags move, so they are refused."""

ExactVersion = Annotated[str, StringConstraints(pattern=r"^[0-9][0-9A-Za-z.+!_-]*$")]


class HfPin(Frozen):
    """A Hugging Face repository at one commit."""

    hf: Annotated[str, StringConstraints(pattern=r"^[\w.-]+/[\w.-]+$")]
    revision: Revision


class DirectoryPin(Frozen):
    """A local directory and the digest of its tree (`armgate pin --tree DIR` prints it)."""

    dir: str
    tree: Digest


class ImagePin(Frozen):
    """A container image by digest; a tag beside it would be decoration and is refused.

    `digest` is what the registry's tag led to (an index of several platforms, or one manifest) or the id
    of an image made here. `platform_digest` is the manifest of one platform in that index.
    """

    image: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._/-]*(:[0-9]+/[a-z0-9._/-]+)?$")]
    digest: Digest
    platform_digest: Digest | None = None


class FilePin(Frozen):
    """A file; its sha256 is computed and recorded, and compared where the campaign states one."""

    file: str
    sha256: Sha256Hex | None = None


class ServedPin(Frozen):
    """A model known only by the id that a running server offers: never verified, for attached arms only."""

    served: str | None
    """`None` is the one model that the server offers, whatever its name."""


class PackagesPin(Frozen):
    """Exact versions of packages inside the engine's environment or image."""

    packages: dict[str, ExactVersion] = Field(min_length=1)


PIN_KINDS = ("hf", "dir", "image", "file", "packages", "served")


def _kind(value: Any) -> str | None:
    keys = value if isinstance(value, dict) else getattr(type(value), "model_fields", {})
    return next((kind for kind in PIN_KINDS if kind in keys), None)


Pin: TypeAlias = Annotated[
    Annotated[HfPin, Tag("hf")]
    | Annotated[DirectoryPin, Tag("dir")]
    | Annotated[ImagePin, Tag("image")]
    | Annotated[FilePin, Tag("file")]
    | Annotated[PackagesPin, Tag("packages")]
    | Annotated[ServedPin, Tag("served")],
    Discriminator(_kind),
]

Pins: TypeAlias = dict[Name, Pin]


class PinState(StrEnum):
    MATCHES = "matches"
    DIFFERS = "differs"
    UNVERIFIED = "unverified"


class PinCheck(Frozen):
    """One pin as asked and as observed at the boot. `role` is target, draft, image, packages, ..."""

    role: str
    name: str
    asked: dict[str, Json]
    observed: dict[str, Json] | None
    state: PinState
    method: str
    """How it was observed, or why it could not be."""
