"""A campaign file and the arms it declares, resolved: defaults laid under overrides, references ordered."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import ValidationError

from armgate.errors import DeclarationError, Problem
from armgate.loading.strict_yaml import Document, load_document, nearest, validate
from armgate.model.arms import DEEP_KEYS, Arm, AttachLauncher, Campaign, ContainerLauncher
from armgate.model.base import Json, merged
from armgate.model.pins import DirectoryPin, FilePin, HfPin, ImagePin, PackagesPin, ServedPin


@dataclasses.dataclass(frozen=True)
class LoadedCampaign:
    campaign: Campaign
    document: Document
    arms: dict[str, Arm]
    """In the order of booting: references before the arms judged against them."""


def load_campaign(path: Path, engines: Mapping[str, frozenset[str]]) -> LoadedCampaign:
    """Load and resolve a campaign. `engines`: name -> serve settings that a campaign may not set."""
    return resolve_campaign(load_document(path), engines)


def resolve_campaign(document: Document, engines: Mapping[str, frozenset[str]]) -> LoadedCampaign:
    """The arms of a campaign, or a DeclarationError with every problem of it."""
    campaign = validate(document, Campaign)
    problems: list[Problem] = []
    arms = {name: _resolve(campaign, name, document, problems) for name in campaign.arms}
    resolved = {name: arm for name, arm in arms.items() if arm is not None}
    for arm in resolved.values():
        problems += _names(campaign, arm, document, engines)
    if problems:
        raise DeclarationError(dict.fromkeys(problems))
    return LoadedCampaign(campaign, document, boot_order(campaign, resolved, document))


def _resolve(campaign: Campaign, name: str, document: Document, problems: list[Problem]) -> Arm | None:
    base = campaign.defaults.model_dump(exclude_unset=True)
    over = campaign.arms[name].model_dump(exclude_unset=True)
    both = merged(base, over, _deep(base, over))
    both["name"] = name
    both.setdefault("reference", campaign.reference)
    given = {key: value for key, value in both.items() if value is not None or key == "speculative"}
    try:
        return Arm.model_validate_json(json.dumps(given), strict=True)
    except ValidationError as error:
        for detail in error.errors():
            place = ("arms", name, *detail["loc"])
            message = (
                f"{detail['loc'][-1]!r} is set neither in the arm nor in defaults"
                if detail["type"] == "missing"
                else detail["msg"]
            )
            problems.append(document.problem(place, message))
        return None


def _deep(base: Mapping[str, Json], over: Mapping[str, Json]) -> frozenset[str]:
    """Launchers of different kinds replace each other; their keys do not mix."""
    kinds = [(side.get("launcher") or {}).get("kind") for side in (base, over)]
    return DEEP_KEYS if kinds[0] == kinds[1] else DEEP_KEYS - {"launcher"}


def _where(campaign: Campaign, arm: Arm, field: str) -> tuple[str, ...]:
    """Where a setting of an arm was written: in the arm, else in defaults."""
    if field in campaign.arms[arm.name].model_fields_set:
        return ("arms", arm.name, field)
    return ("defaults", field)


def _names(
    campaign: Campaign, arm: Arm, document: Document, engines: Mapping[str, frozenset[str]]
) -> list[Problem]:
    """Names in an arm that stand for nothing: pins, arms, engines, settings that Armgate sets itself."""
    problems = list(_pin_problems(campaign, arm, document))
    if arm.reference not in campaign.arms:
        hint = nearest(arm.reference, list(campaign.arms))
        problems.append(document.problem(("arms", arm.name, "reference"), f"no arm {arm.reference!r}", hint))
    if arm.engine not in engines:
        hint = nearest(arm.engine, list(engines))
        problems.append(document.problem(_where(campaign, arm, "engine"), f"no engine {arm.engine!r}", hint))
        return problems
    for key in arm.serve:
        if key in engines[arm.engine]:
            path = (*_where(campaign, arm, "serve"), key)
            problems.append(document.problem(path, f"{key!r} is set by Armgate from pins and launcher"))
    return problems


def _pin_problems(campaign: Campaign, arm: Arm, document: Document) -> Iterator[Problem]:
    for field, pin in _pins_named(arm):
        where = _where(campaign, arm, field.partition(".")[0])
        if pin not in campaign.pins:
            path = (*where, *field.split(".")[1:])
            yield document.problem(path, f"no pin {pin!r}", nearest(pin, list(campaign.pins)))
        elif not isinstance(campaign.pins[pin], PIN_KINDS[field]):
            wanted = " or ".join(kind.__name__.removesuffix("Pin").lower() for kind in PIN_KINDS[field])
            message = f"pin {pin!r} cannot be used as {field}: a pin of kind {wanted} is needed"
            yield document.problem(where, message)
        elif isinstance(campaign.pins[pin], ServedPin) and not isinstance(arm.launcher, AttachLauncher):
            message = f"pin {pin!r} names what a running server offers, and this arm is started"
            yield document.problem(where, message, "give `hf` and `revision`, or `dir` and `tree`")


PIN_KINDS: Mapping[str, tuple[type, ...]] = {
    "target": (HfPin, DirectoryPin, ServedPin),
    "tokenizer": (HfPin, DirectoryPin),
    "speculative.draft": (HfPin, DirectoryPin, ServedPin),
    "chat_template": (FilePin,),
    "packages": (PackagesPin,),
    "launcher.image": (ImagePin,),
}
"""What each place of an arm may be pinned with."""


def _pins_named(arm: Arm) -> list[tuple[str, str]]:
    named: list[tuple[str, str | None]] = [
        ("target", arm.target),
        ("tokenizer", arm.tokenizer),
        ("chat_template", arm.chat_template),
        ("packages", arm.packages),
        ("speculative.draft", arm.speculative.draft if arm.speculative else None),
        ("launcher.image", arm.launcher.image if isinstance(arm.launcher, ContainerLauncher) else None),
    ]
    return [(field, pin) for field, pin in named if pin is not None]


def boot_order(campaign: Campaign, arms: Mapping[str, Arm], document: Document) -> dict[str, Arm]:
    """The campaign's reference first, then file order, each arm after the one it is judged against."""
    ordered: dict[str, Arm] = {}

    def place(name: str, chain: tuple[str, ...]) -> None:
        if name in ordered:
            return
        if name in chain:
            path = ("arms", name, "reference")
            circle = " -> ".join((*chain, name))
            raise DeclarationError([document.problem(path, f"references in a circle: {circle}")])
        if arms[name].reference != name:
            place(arms[name].reference, (*chain, name))
        ordered[name] = arms[name]

    for name in (campaign.reference, *arms):
        place(name, ())
    return ordered
