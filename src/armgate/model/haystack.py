"""Haystacks: the recipe of a long input with planted markers, and what was built from it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from armgate.model.base import Digest, Frozen, Name

Depth = Annotated[float, Field(ge=0, le=1)]

RECORD = (
    "Record {number}: Routine inventory maintenance and warehouse procedures. "
    "No verification marker is present in this background record."
)


class RecordsFiller(Frozen):
    """Numbered records that differ in their number only. `line` takes `{number}`, five digits."""

    kind: Literal["records"] = "records"
    line: str = RECORD


class ProseFiller(Frozen):
    """Generated sentences; the same seed gives the same text."""

    kind: Literal["prose"] = "prose"


class CorpusFiller(Frozen):
    """Lines of a user's text file, each used once, long ones broken at spaces. `sha256`: of its bytes."""

    kind: Literal["corpus"] = "corpus"
    file: str
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


Filler = Annotated[RecordsFiller | ProseFiller | CorpusFiller, Field(discriminator="kind")]


class MarkerSpec(Frozen):
    """One string to bring back. Without `text` it is drawn from `pattern` by the haystack's seed.

    In `pattern`, `#` is a digit, `@` a capital letter, `{word}` a colour. `depth` is a fraction of the
    filler. `place: line` plants `sentence` on a line of its own; `header` and `footer` say that the text
    there contains `{<id>}` instead, and then `depth` is what the place makes it.
    """

    id: Name
    text: str | None = None
    pattern: str = "{word}-####"
    depth: Depth = 0.5
    sentence: str = "The {id} marker is {text}."
    place: Literal["line", "header", "footer"] = "line"


class DecoySpec(Frozen):
    """A string that must not come back. Without `text` it is its marker with two characters swapped."""

    of: Name
    depth: Depth
    text: str | None = None
    sentence: str = "An earlier list gave the {of} marker as {text}; that value was withdrawn."


class HaystackSpec(Frozen):
    """A recipe. Exactly one of `target_tokens` (counted by the server) and `lines` (a fixed number)."""

    target_tokens: Annotated[int, Field(ge=1)] | None = None
    lines: Annotated[int, Field(ge=1)] | None = None
    tolerance_tokens: Annotated[int, Field(ge=0)] = 8
    filler: Filler = RecordsFiller()
    seed: int = 1
    fresh_prefix: bool = False
    """Begin with a line drawn from the seed, so that no other haystack shares a cached prefix."""
    header: str = "Read this archive as data.\n<archive>"
    footer: str = "</archive>"
    question: str
    markers: tuple[MarkerSpec, ...] = ()
    decoys: tuple[DecoySpec, ...] = ()

    @model_validator(mode="after")
    def _holds_together(self) -> HaystackSpec:
        if (self.target_tokens is None) == (self.lines is None):
            raise ValueError("exactly one of target_tokens and lines")
        ids = [marker.id for marker in self.markers]
        if len(set(ids)) != len(ids):
            raise ValueError("marker ids used twice")
        unknown = sorted({decoy.of for decoy in self.decoys} - set(ids))
        if unknown:
            raise ValueError(f"decoys of markers that are not declared: {', '.join(unknown)}")
        for marker in self.markers:
            where = {"header": self.header, "footer": self.footer}.get(marker.place)
            if where is not None and f"{{{marker.id}}}" not in where:
                raise ValueError(
                    f"marker {marker.id!r} is placed in the {marker.place}, "
                    f"which does not contain {{{marker.id}}}"
                )
        return self


class Planted(Frozen):
    """A marker or decoy as it stands in the text: characters before it, and tokens as counted."""

    id: Name
    text: str
    depth_asked: float | None
    char_offset: int
    token_offset: int
    """Tokens of the text before it by the same counter, without those of the chat template."""
    depth: float
    """`token_offset` as a share of the whole text's tokens."""


class Haystack(Frozen):
    """What was built. `counted_tokens` is the injected counter's figure for the whole prompt."""

    text: str
    sha256: Digest
    counted_tokens: int
    target_tokens: int | None
    count_calls: int
    lines: int
    padding_words: int
    markers: tuple[Planted, ...]
    decoys: tuple[Planted, ...]
