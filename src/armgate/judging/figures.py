"""Figures over repeated runs in the form that every measurement has: formula, unit, values, median, range."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from armgate.model.base import Json


def figures(formula: str, unit: str, values: Sequence[float]) -> dict[str, Json]:
    """Values in the order sent, n, and where there are any median, min and max (a range, no interval)."""
    out: dict[str, Json] = {"formula": formula, "unit": unit, "n": len(values), "values": list(values)}
    if values:
        out |= {"median": median(values), "min": min(values), "max": max(values), "spread": "range"}
    return out
