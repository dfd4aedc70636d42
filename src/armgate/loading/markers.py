"""Draws markers and decoys from a haystack's seed and lays them into its text."""

from __future__ import annotations

import hashlib
import random
import string
from collections.abc import Sequence
from typing import Literal, NamedTuple

from armgate.errors import UsageError
from armgate.model.haystack import DecoySpec, HaystackSpec, MarkerSpec, Placed

WORDS = (
    "AMBER",
    "AZURE",
    "CORAL",
    "CRIMSON",
    "CYAN",
    "EMERALD",
    "INDIGO",
    "IVORY",
    "JADE",
    "MAGENTA",
    "OCHRE",
    "OLIVE",
    "PEARL",
    "RUBY",
    "SAFFRON",
    "SCARLET",
    "SILVER",
    "TEAL",
    "UMBER",
    "VIOLET",
)

PREFIX = "Archive copy "
"""Of the line that keeps two haystacks from sharing a cached prefix."""

DRAWS = 1000
"""Tries to draw a marker that is not there yet, before its pattern counts as exhausted."""


class Drawn(NamedTuple):
    """A marker or decoy with its text decided. `sentence` is the line that plants it."""

    id: str
    text: str
    depth: float
    sentence: str
    place: Literal["line", "header", "footer"]
    declared: Placed


class DrawnSet(NamedTuple):
    prefix: str | None
    markers: tuple[Drawn, ...]
    decoys: tuple[Drawn, ...]


class Assembled(NamedTuple):
    """The text, and for each marker and then each decoy the characters before it."""

    text: str
    offsets: tuple[int, ...]


def draw(spec: HaystackSpec, salt: str = "") -> DrawnSet:
    """All texts that `spec` leaves to its seed; no two markers or decoys are alike.

    `salt` (the probe that asks) is drawn into the fresh prefix alone: the same seed never shares one.
    """
    chance = random.Random(f"{spec.seed}:markers")  # noqa: S311 - repeatable, not secret
    prefix = f"{PREFIX}{_fresh(spec.seed, salt)}." if spec.fresh_prefix else None
    taken = {marker.text for marker in spec.markers if marker.text is not None}
    markers = tuple(_marker(marker, chance, taken) for marker in spec.markers)
    specs = {marker.id: marker for marker in spec.markers}
    by_id = {marker.id: marker.text for marker in markers}
    taken |= {decoy.text for decoy in spec.decoys if decoy.text is not None}
    decoys = tuple(_decoy(decoy, specs[decoy.of], by_id[decoy.of], chance, taken) for decoy in spec.decoys)
    texts = [drawn.text for drawn in (*markers, *decoys)]
    doubled = sorted({text for text in texts if texts.count(text) > 1})
    if doubled:
        raise UsageError(f"haystack: the same text is planted twice: {', '.join(doubled)}")
    return DrawnSet(prefix, markers, decoys)


def assemble(spec: HaystackSpec, drawn: DrawnSet, lines: Sequence[str], padding: str = "") -> Assembled:
    """The whole text, its parts joined by line breaks. A planted line stands before line `int(depth x n)`."""
    planted = [*drawn.markers, *drawn.decoys]
    parts: list[str] = [] if drawn.prefix is None else [drawn.prefix]
    where: dict[int, tuple[int, int]] = {}
    _add_edge(parts, where, spec.header, "header", planted)
    _add_body(parts, where, lines, planted)
    if padding:
        parts.append(padding)
    _add_edge(parts, where, spec.footer, "footer", planted)
    parts.append(spec.question)
    starts = [0]
    for part in parts:
        starts.append(starts[-1] + len(part) + 1)
    offsets = tuple(starts[where[i][0]] + where[i][1] for i in range(len(planted)))
    return Assembled("\n".join(parts), offsets)


def _add_body(
    parts: list[str], where: dict[int, tuple[int, int]], lines: Sequence[str], planted: Sequence[Drawn]
) -> None:
    inside = [(int(one.depth * len(lines)), i) for i, one in enumerate(planted) if one.place == "line"]
    done = 0
    for at, i in sorted(inside):
        parts.extend(lines[done:at])
        where[i] = (len(parts), planted[i].sentence.index(planted[i].text))
        parts.append(planted[i].sentence)
        done = at
    parts.extend(lines[done:])


def _add_edge(
    parts: list[str], where: dict[int, tuple[int, int]], edge: str, place: str, planted: Sequence[Drawn]
) -> None:
    """The header or footer with its markers filled in; an empty one takes no line."""
    if not edge:
        return
    here = [(i, one) for i, one in enumerate(planted) if one.place == place]
    for _, one in here:
        edge = edge.replace(f"{{{one.id}}}", one.text)
    where.update({i: (len(parts), edge.index(one.text)) for i, one in here})
    parts.append(edge)


def _fresh(seed: int, salt: str) -> str:
    return hashlib.sha256(f"{seed}:{salt}".encode()).hexdigest()[:16]


def _marker(marker: MarkerSpec, chance: random.Random, taken: set[str]) -> Drawn:
    text = marker.text if marker.text is not None else _untaken(marker.pattern, chance, taken)
    taken.add(text)
    sentence = _filled(marker.sentence, text, marker.id)
    return Drawn(marker.id, text, marker.fraction, sentence, marker.place, marker)


def _untaken(pattern: str, chance: random.Random, taken: set[str]) -> str:
    for _ in range(DRAWS):
        text = _from_pattern(pattern, chance)
        if text not in taken:
            return text
    raise UsageError(f"haystack: the pattern {pattern!r} gives too few different markers")


def _from_pattern(pattern: str, chance: random.Random) -> str:
    drawn = "".join(
        chance.choice(string.digits)
        if sign == "#"
        else chance.choice(string.ascii_uppercase)
        if sign == "@"
        else sign
        for sign in pattern
    )
    return drawn.replace("{word}", chance.choice(WORDS))


def _decoy(decoy: DecoySpec, spec: MarkerSpec, marker: str, chance: random.Random, taken: set[str]) -> Drawn:
    if decoy.text is not None:
        text = decoy.text
    elif decoy.kind == "superseded":
        text = _untaken(spec.pattern, chance, taken)
    else:
        text = _swapped(marker, taken)
    taken.add(text)
    return Drawn(decoy.of, text, decoy.fraction, _filled(decoy.sentence, text, decoy.of), "line", decoy)


def _swapped(text: str, taken: set[str]) -> str:
    """`text` with two unlike neighbours exchanged, the last ones that give a string not yet planted."""
    for at in range(len(text) - 2, -1, -1):
        swapped = text[:at] + text[at + 1] + text[at] + text[at + 2 :]
        if swapped != text and swapped not in taken:
            return swapped
    raise UsageError(f"haystack: no further decoy can be made of {text!r}; give its text")


def _filled(sentence: str, text: str, marker_id: str) -> str:
    filled = sentence.replace("{id}", marker_id).replace("{of}", marker_id).replace("{text}", text)
    if text not in filled:
        raise UsageError(f"haystack: the sentence of {marker_id!r} does not contain {{text}}")
    return filled
