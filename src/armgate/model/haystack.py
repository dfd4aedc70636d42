"""Haystacks: the recipe of a long input with planted markers, and what was built from it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from armgate.model.base import Digest, Frozen, Name

Depth = Annotated[float, Field(ge=0, le=1)]
Tokens = Annotated[int, Field(ge=1)]
Length = Tokens | Literal["window"]
"""Prompt tokens, chat template included; `window` is what the promised window holds beside the answer."""

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


class Placed(Frozen):
    """A string planted on a line of its own, or named by the header or footer.

    `depth` is a fraction of the filler, `at_tokens` an offset in tokens of the text; not both. The line
    that starts nearest to the offset takes it. Without `text` it is drawn by the haystack's seed.
    """

    depth: Depth | None = None
    at_tokens: Annotated[int, Field(ge=0)] | None = None
    text: str | None = None

    @model_validator(mode="after")
    def _is_in_one_place(self) -> Placed:
        if self.depth is not None and self.at_tokens is not None:
            raise ValueError("depth or at_tokens, not both")
        return self

    @property
    def fraction(self) -> float:
        """The declared depth; the middle where none is."""
        return 0.5 if self.depth is None else self.depth


class MarkerSpec(Placed):
    """One string to bring back.

    In `pattern`, `#` is a digit, `@` a capital letter, `{word}` a colour. `place: line` plants `sentence`
    on a line of its own; `header` and `footer` say that the text there contains `{<id>}` instead, and then
    its depth is what the place makes it.
    """

    id: Name
    pattern: str = "{word}-####"
    sentence: str = "The {id} marker is {text}."
    place: Literal["line", "header", "footer"] = "line"


class DecoySpec(Placed):
    """A string that must not come back.

    Without `text`: `near` is its marker with two characters exchanged, `superseded` another draw from its
    marker's pattern: the value that a reader would give who stopped at the first sentence.
    """

    of: Name
    kind: Literal["near", "superseded"] = "near"
    sentence: str = "An earlier list gave the {of} marker as {text}; that value was withdrawn."


class HaystackSpec(Frozen):
    """A recipe. Its length is `target_tokens` (as the server counts them), `lines` (a fixed number of
    filler lines), or set by a gate's `sweep`.
    """

    target_tokens: Length | None = None
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
        if self.target_tokens is not None and self.lines is not None:
            raise ValueError("exactly one of target_tokens and lines")
        ids = [marker.id for marker in self.markers]
        if len(set(ids)) != len(ids):
            raise ValueError("marker ids used twice")
        unknown = sorted({decoy.of for decoy in self.decoys} - set(ids))
        if unknown:
            raise ValueError(f"decoys of markers that are not declared: {', '.join(unknown)}")
        target = self.target_tokens
        for placed in (*self.markers, *self.decoys):
            if isinstance(target, int) and placed.at_tokens is not None and placed.at_tokens >= target:
                raise ValueError(f"at_tokens {placed.at_tokens} lies beyond the target of {target} tokens")
        for marker in self.markers:
            where = {"header": self.header, "footer": self.footer}.get(marker.place)
            if where is not None and f"{{{marker.id}}}" not in where:
                raise ValueError(
                    f"marker {marker.id!r} is placed in the {marker.place}, "
                    f"which does not contain {{{marker.id}}}"
                )
        return self

    @property
    def has_length(self) -> bool:
        return self.target_tokens is not None or self.lines is not None


class HaystackFile(HaystackSpec):
    """A recipe in a file of its own, `gates/haystacks/<id>.yaml`, for ladders to name."""

    schema_: Literal["armgate/haystack/v1"] = Field(alias="schema")
    id: Name
    says: str | None = None


def _kind(value: Any) -> str:
    return "name" if isinstance(value, str) else "recipe"


HaystackOrName = Annotated[
    Annotated[Name, Tag("name")] | Annotated[HaystackSpec, Tag("recipe")], Discriminator(_kind)
]


class Sweep(Frozen):
    """Lengths x depths x seeds of one marker: each a haystack of its own under a fresh prefix.

    `repeats` sends each prompt again so many times, with the same prefix, to measure caching on purpose.
    """

    lengths: tuple[Length, ...] = Field(min_length=1)
    depths: tuple[Depth, ...] = Field(min_length=1)
    seeds: tuple[int, ...] = Field(default=(1,), min_length=1)
    repeats: Annotated[int, Field(ge=0, le=9)] = 0

    @model_validator(mode="after")
    def _names_each_once(self) -> Sweep:
        for name in ("lengths", "depths", "seeds"):
            values = getattr(self, name)
            if len(set(values)) != len(values):
                raise ValueError(f"{name}: a value is given twice")
        return self


class Planted(Frozen):
    """A marker or decoy as it stands in the text: characters before it, and tokens as counted."""

    id: Name
    text: str
    depth_asked: float | None
    tokens_asked: int | None = None
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
    overhead_tokens: int
    """Of the chat template and a system text: what the same counter counts beside the text."""
    lines: int
    padding_words: int
    markers: tuple[Planted, ...]
    decoys: tuple[Planted, ...]


class CountCheck(Frozen):
    """One short prompt as the counter counts it and as the server reported it when it was served.

    `served` is `None` where the server reported no usage.
    """

    counted: int
    served: int | None

    @property
    def agrees(self) -> bool:
        return self.served is not None and self.served == self.counted

    def least_served(self, counted: int) -> int:
        """The fewest tokens that a whole prompt of `counted` tokens may be reported as.

        Where the two differ on the short prompt it is not known whether by a constant (a special token) or
        by a share (another tokenizer), so the smaller of both is taken.
        """
        if self.served is None or self.agrees:
            return counted
        by_constant = counted + self.served - self.counted
        return max(min(by_constant, counted * self.served // self.counted), 1)

    def most_served(self, counted: int) -> int:
        """The most tokens that a prompt of `counted` tokens may be to the server, by the same reasoning."""
        if self.served is None or self.agrees:
            return counted
        by_constant = counted + self.served - self.counted
        return max(by_constant, -(-counted * self.served // self.counted), counted)
