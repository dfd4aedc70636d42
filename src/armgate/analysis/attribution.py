"""What two resolved arms differ in, so that a difference is not put down to one factor among several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from armgate.model.arms import Arm, AttachLauncher
from armgate.model.base import Json
from armgate.model.comparison import ArmFigures, Attribution, Difference

NO_CONDITION = frozenset({"name", "reference", "says", "boots"})
"""Fields that name an arm or say how often it is measured, not how it is served."""
OBSERVING = frozenset(
    {
        "serve.enable_per_request_metrics",
        "serve.enable_prompt_tokens_details",
        "serve.per_request_spec_decode_metrics",
    }
)
"""Settings that make a server tell more of its requests. vLLM takes the last one only beside a draft."""
SPECULATION = "speculative."
PINNED = {"draft": "speculative.draft", "image": "launcher.image"}
"""Fields that a pin's role stands for, where they have another name."""
PLACES = frozenset({"launcher.url", "launcher.api_key_file", "launcher.api_key_env"})
"""Where a server that someone else booted is found, and the key to it; not what it is."""


def attribute(arm: ArmFigures, reference: ArmFigures) -> Attribution:
    """Every field in which two arms differ, pins by their identity and boots by what they turned out to be.

    One factor is a depth, speculation against none with all that it implies, or any other single field.
    Whatever differs beside one factor makes a claim about it confounded.
    """
    if arm.arm is None or reference.arm is None:
        return Attribution(
            factor="not known: the resolved settings were not recorded", differences=(), confounded=None
        )
    # What a boot that never was ready turned out to be is not known, and unknown is no difference.
    seen = bool(arm.observed and reference.observed)
    ours, theirs = _condition(arm, arm.arm, seen), _condition(reference, reference.arm, seen)
    differences = tuple(_differences(ours, theirs))
    factor, confounded = _factor(arm.arm, reference.arm, differences)
    return Attribution(factor=factor, differences=differences, confounded=confounded)


def _condition(figures: ArmFigures, arm: Arm, observed: bool) -> dict[str, Json]:
    """All that decides how an arm answers, by dotted path; a pin stands for its identity, not its name."""
    declared = arm.model_dump(mode="json", exclude=set(NO_CONDITION))
    fields = {path: value for path, value in _leaves("", declared) if path not in PLACES}
    if isinstance(arm.launcher, AttachLauncher):
        # Another machine is another condition; another port of the same one is not.
        fields["launcher.host"] = urlsplit(arm.launcher.url).hostname
    for role, identity in figures.pins.items():
        path = PINNED.get(role, role)
        fields.pop(path, None)
        fields |= _leaves(path, identity)
    fields |= dict(_leaves("observed", figures.observed)) if observed else {}
    return {path: value for path, value in fields.items() if path not in OBSERVING}


def _leaves(path: str, value: Json) -> Iterator[tuple[str, Json]]:
    """Values by dotted path. An absent mapping has no leaves, so its fields read as absent."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(f"{path}.{key}" if path else key, inner)
    elif value is not None:
        yield path, value


def _differences(ours: Mapping[str, Json], theirs: Mapping[str, Json]) -> Iterator[Difference]:
    for path in sorted(ours.keys() | theirs.keys()):
        mine, other = ours.get(path), theirs.get(path)
        if type(mine) is not type(other) or mine != other:
            yield Difference(path=path, arm=mine, reference=other)


def _factor(arm: Arm, reference: Arm, found: Sequence[Difference]) -> tuple[str, bool]:
    """The factor in words, and whether it is confounded."""
    if not found:
        return "nothing differs", False
    paths = [one.path for one in found]
    if _is_about_depth(arm, reference, paths):
        return f"{_depth(arm)} against {_depth(reference)}", False
    if len(found) == 1:
        (only,) = found
        return f"{only.path}: {only.arm} against {only.reference}", False
    return f"confounded: {', '.join(paths)}", True


def _is_about_depth(arm: Arm, reference: Arm, paths: Sequence[str]) -> bool:
    """Depth alone differs; or one side has no draft, and its method, model and options are implied."""
    if not all(path.startswith(SPECULATION) for path in paths):
        return False
    return paths == ["speculative.depth"] or arm.speculative is None or reference.speculative is None


def _depth(arm: Arm) -> str:
    return f"{arm.speculative.method} depth {arm.depth}" if arm.speculative else "no speculation"
