"""The noise floor: how far the reference lies from itself, in its figures and in its verdicts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from statistics import median
from typing import Literal, TypeVar

from armgate.model.comparison import ArmFigures, Figure, FlipFloor, NoiseFloor, PassFail
from armgate.model.intervals import wilson_interval

Key = TypeVar("Key", bound=Hashable)

NO_CONTROL = "no control: the reference repeated no prompt of this kind"


def noise_floors(reference: ArmFigures) -> tuple[NoiseFloor, ...]:
    """The widest relative range of the reference's repeats of one prompt, for each metric and kind."""
    groups = dict.fromkeys((figure.metric, figure.kind) for figure in reference.figures)
    return tuple(_noise_floor(reference, metric, kind) for metric, kind in groups)


def flip_floors(reference: ArmFigures) -> tuple[FlipFloor, ...]:
    """How often the reference's verdict on one prompt changed, within its boots and from boot to boot."""
    groups = dict.fromkeys((one.gate, one.kind) for one in reference.passes)
    return tuple(floor for gate, kind in groups for floor in _flips(reference, gate, kind))


def _noise_floor(reference: ArmFigures, metric: str, kind: str) -> NoiseFloor:
    figures = [f for f in reference.figures if (f.metric, f.kind) == (metric, kind) and f.value > 0]
    runs = _grouped(((f.prompt, f.boot), f.value) for f in figures)
    repeated = {key: values for key, values in runs.items() if len(values) > 1}
    by_prompt = _grouped((prompt, median(values)) for (prompt, _), values in runs.items())
    rebooted = [medians for medians in by_prompt.values() if len(medians) > 1]
    return NoiseFloor(
        metric=metric,
        kind=kind,
        repeated_prompts=len({prompt for prompt, _ in repeated}),
        relative=_widest(repeated.values()),
        boots=len({figure.boot for figure in figures}),
        across_boots=_widest(rebooted),
        absent=None if repeated or rebooted else NO_CONTROL,
    )


def _grouped(pairs: Iterable[tuple[Key, float]]) -> dict[Key, list[float]]:
    groups: dict[Key, list[float]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def _widest(groups: Iterable[Sequence[float]]) -> float | None:
    return max((max(values) / min(values) - 1 for values in groups), default=None)


def _flips(reference: ArmFigures, gate: str, kind: str) -> Iterator[FlipFloor]:
    ours = [one for one in reference.passes if (one.gate, one.kind) == (gate, kind)]
    first = min(one.boot for one in ours)
    within = [pair for boot in {one.boot for one in ours} for pair in _repeats(ours, boot)]
    across = [pair for boot in {one.boot for one in ours} - {first} for pair in _boots(ours, first, boot)]
    if within:
        yield _flip_floor(gate, kind, "same_boot", within)
    if across:
        yield _flip_floor(gate, kind, "across_boots", across)


def _flip_floor(
    gate: str, kind: str, scope: Literal["same_boot", "across_boots"], pairs: Sequence[tuple[bool, bool]]
) -> FlipFloor:
    flips = sum(one is not other for one, other in pairs)
    return FlipFloor(
        gate=gate,
        kind=kind,
        scope=scope,
        pairs=len(pairs),
        flips=flips,
        rate=flips / len(pairs),
        interval=wilson_interval(flips, len(pairs)),
    )


def _repeats(passes: Sequence[PassFail], boot: int) -> Iterator[tuple[bool, bool]]:
    """Each later sample of a prompt with the first of it in that boot."""
    firsts: dict[str, bool] = {}
    for one in passes:
        if one.boot == boot:
            if one.prompt in firsts:
                yield firsts[one.prompt], one.passed
            firsts.setdefault(one.prompt, one.passed)


def _boots(passes: Sequence[PassFail], first: int, boot: int) -> Iterator[tuple[bool, bool]]:
    """Each sample of a later boot with the same sample of the first."""
    before = {one.sample: one.passed for one in passes if one.boot == first}
    for one in passes:
        if one.boot == boot and one.sample in before:
            yield before[one.sample], one.passed


def medians_by_prompt(figures: Iterable[Figure]) -> dict[str, float]:
    return {
        prompt: median(values) for prompt, values in _grouped((f.prompt, f.value) for f in figures).items()
    }
