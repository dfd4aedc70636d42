"""What two resolved arms differ in, so that a difference is not put down to one factor among several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from armgate.model.arms import Arm
from armgate.model.base import Json
from armgate.model.comparison import Attribution, Difference

NO_CONDITION = frozenset({"name", "reference", "says", "boots"})
"""Fields that name an arm or say how often it is measured, not how it is served."""


def attribute(arm: Arm | None, reference: Arm | None) -> Attribution:
    """Every field in which two arms differ. Confounded: something besides the speculation differs."""
    if arm is None or reference is None:
        return Attribution(
            factor="not known: the resolved settings were not recorded", differences=(), confounded=None
        )
    differences = tuple(_differences(arm, reference))
    others = [one.path for one in differences if not one.path.startswith("speculative.")]
    return Attribution(
        factor=_factor(arm, reference, [one.path for one in differences], others),
        differences=differences,
        confounded=bool(others),
    )


def _differences(arm: Arm, reference: Arm) -> Iterator[Difference]:
    ours, theirs = _fields(arm), _fields(reference)
    for path in sorted(ours.keys() | theirs.keys()):
        mine, other = ours.get(path), theirs.get(path)
        if type(mine) is not type(other) or mine != other:
            yield Difference(path=path, arm=mine, reference=other)


def _fields(arm: Arm) -> dict[str, Json]:
    return dict(_leaves("", arm.model_dump(mode="json", exclude=set(NO_CONDITION))))


def _leaves(path: str, value: Json) -> Iterator[tuple[str, Json]]:
    """Values by dotted path. An absent mapping has no leaves, so its fields read as absent."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(f"{path}.{key}" if path else key, inner)
    elif value is not None:
        yield path, value


def _factor(arm: Arm, reference: Arm, paths: list[str], others: list[str]) -> str:
    if not paths:
        return "nothing differs"
    if others:
        return f"confounded: {', '.join(paths)}"
    if paths == ["speculative.depth"] or arm.speculative is None or reference.speculative is None:
        return f"{_depth(arm)} against {_depth(reference)}"
    return f"speculation as a whole: {', '.join(paths)}"


def _depth(arm: Arm) -> str:
    return f"{arm.speculative.method} depth {arm.depth}" if arm.speculative else "no speculation"
