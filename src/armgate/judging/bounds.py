"""A ladder's bounds on figures: whether they can mean anything, and whether the figures keep them."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from armgate.model.gates import Gate, Threshold
from armgate.model.outcome import Family, Violation


@dataclasses.dataclass(frozen=True)
class Bounds:
    """The names of figures that a check holds to a bound, by direction. None, unless a check says so."""

    at_least: tuple[str, ...] = ()
    at_most: tuple[str, ...] = ()


class Held(NamedTuple):
    """The bounds that figures broke, and those that no figure was there for: neither is a pass."""

    violations: tuple[Violation, ...] = ()
    without_figure: tuple[str, ...] = ()


Medians = Mapping[str, Mapping[str, float | None]]
"""Whose figures (put before the name in words) -> name -> value."""


def bound_problems(gate: Gate, bounds: Bounds) -> Iterator[tuple[str, str]]:
    """(field, message) for every bound that this check would not read."""
    for direction in ("at_least", "at_most"):
        known = getattr(bounds, direction)
        for name in getattr(gate.threshold, direction):
            if name not in known:
                message = f"check {gate.check!r} has no figure {name!r} to bound {direction}"
                yield f"threshold.{direction}.{name}", f"{message}; {_hint(name, known)}"


def held(threshold: Threshold, medians: Medians) -> Held:
    """Every declared bound against everybody's figure."""
    broken, without = [], []
    for whose, name, word, bound in _asked(threshold, medians):
        value = medians[whose].get(name)
        if value is None:
            without.append(f"{whose}{name}: no figure to hold against {word} {bound:g}")
        elif value < bound if word == "at least" else value > bound:
            side = "below" if word == "at least" else "above"
            broken.append(broken_bound(f"{whose}{name} {value:.4g} is {side} {bound:g}"))
    return Held(tuple(broken), tuple(without))


def broken_bound(message: str) -> Violation:
    return Violation(clause="threshold", message=message, family=Family.MEASUREMENT)


def _asked(threshold: Threshold, medians: Medians) -> Iterator[tuple[str, str, str, float]]:
    for whose in medians:
        for name, bound in threshold.at_least.items():
            yield whose, name, "at least", bound
        for name, bound in threshold.at_most.items():
            yield whose, name, "at most", bound


def _hint(name: str, known: Iterable[str]) -> str:
    there = sorted(known)
    near = difflib.get_close_matches(name, there, n=1, cutoff=0.6)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"figures: {', '.join(there)}" if there else "it bounds none in this direction"
