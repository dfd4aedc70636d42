"""Marks of a plot as SVG that stretches with its cell: coordinates run from 0 to 1000, strokes do not scale.

Words and figures stand in the table around it, so that they stay legible on a phone, on paper and aloud.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from markupsafe import Markup

WIDTH = 1000
ROW = 20
CHART = 160
STEPS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)


def axis_end(values: Iterable[float]) -> float:
    """A round number at or above the highest value."""
    top = max(values, default=0.0)
    if top <= 0 or not math.isfinite(top):
        return 1.0
    power = 10.0 ** math.floor(math.log10(top))
    return next(step * power for step in STEPS if step * power >= top * (1 - 1e-12))


def figure(value: float) -> str:
    """Three significant digits, never in exponents."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(digits, 6)}f}"


def axis(value: float) -> str:
    """An end of an axis: round, so without zeros that say nothing."""
    return f"{value:,.6f}".rstrip("0").rstrip(".")


def svg(marks: Iterable[Markup], height: int) -> Markup:
    """Hidden from screen readers: the table says the same in figures."""
    return Markup(
        '<svg viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true" focusable="false">{}</svg>'
    ).format(WIDTH, height, Markup("").join(marks))


def _at(value: float, end: float, length: int = WIDTH) -> str:
    return f"{min(max(value / end, 0.0), 1.0) * length:.1f}".removesuffix(".0")


def dots(values: Sequence[float], end: float) -> Markup:
    """A dot a value, as strokes of no length with round ends."""
    path = " ".join(f"M{_at(value, end)} {ROW // 2}h0" for value in values)
    return Markup('<path class="dot" d="{}"/>').format(path)


def tick(value: float, end: float) -> Markup:
    """The median."""
    return Markup('<path class="median" d="M{} 2v{}"/>').format(_at(value, end), ROW - 4)


def whisker(low: float, high: float, end: float) -> Markup:
    left, right, middle = _at(low, end), _at(high, end), ROW // 2
    return Markup('<path class="whisker" d="M{0} {2}H{1}M{0} 6v8M{1} 6v8"/>').format(left, right, middle)


def segment(start: float, stop: float, end: float, kind: str) -> Markup:
    return Markup('<path class="{}" d="M{} {}H{}"/>').format(kind, _at(start, end), ROW // 2, _at(stop, end))


def grid() -> Markup:
    """Quarters of a chart."""
    lines = " ".join(f"M0 {CHART * n // 4}H{WIDTH}" for n in range(1, 4))
    return Markup('<path class="grid" d="{}"/>').format(lines)


def line(points: Sequence[tuple[float, float]], x_end: float, y_end: float) -> Markup:
    path = "L".join(f"{_at(x, x_end)} {CHART - float(_at(y, y_end, CHART)):g}" for x, y in points)
    return Markup('<path class="trace" d="M{}"/>').format(path)


def scatter(points: Sequence[tuple[float, float]], x_end: float, y_end: float, kind: str) -> Markup:
    path = " ".join(f"M{_at(x, x_end)} {CHART - float(_at(y, y_end, CHART)):g}h0" for x, y in points)
    return Markup('<path class="{}" d="{}"/>').format(kind, path)


def thinned(points: Sequence[tuple[float, float]], most: int) -> list[tuple[float, float]]:
    """At most about `most` points; of each stretch the highest is kept, so that no peak is lost."""
    step = -(-len(points) // most) or 1
    return [max(points[at : at + step], key=lambda p: (p[1], -p[0])) for at in range(0, len(points), step)]
