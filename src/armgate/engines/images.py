"""Container images as a Docker engine tells them, against what a campaign pins. Nothing is asked here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from armgate.errors import BootError
from armgate.model.base import Json
from armgate.model.pins import ImagePin, PinCheck, PinState

MACHINES = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm", "i686": "386"}
"""The kernel's word for a machine -> the word of image manifests."""


def references(pin: ImagePin) -> list[str]:
    """What the pinned image can be asked for by: its name at a digest, or its id where it was made here."""
    digests = [digest for digest in (pin.digest, pin.platform_digest) if digest is not None]
    return [*(f"{pin.image}@{digest}" for digest in digests), *digests]


def seen_image(attributes: Mapping[str, Any]) -> dict[str, Json]:
    """What is kept of an image: the id, every digest that it is known under, platform, size in bytes.

    A digest under which it was pulled is of the index or of the manifest, whichever the pull named; engines
    with containerd's store also tell the manifest of their own platform as a descriptor.
    """
    descriptor = attributes.get("Descriptor") or {}
    return {
        "id": attributes.get("Id"),
        "repo_digests": sorted(attributes.get("RepoDigests") or []),
        "manifest": descriptor.get("digest"),
        "architecture": attributes.get("Architecture"),
        "os": attributes.get("Os"),
        "size_bytes": attributes.get("Size"),
    }


def check_image(role: str, name: str, pin: ImagePin, seen: Sequence[Mapping[str, Json]]) -> PinCheck:
    """The pin against the images of its name (or with its digest) that the engine has.

    BootError `image_not_found` where there is none: nothing is pulled, and no other tag is tried.
    """
    if not seen:
        raise BootError(
            "image_not_found",
            f"the Docker engine has no image {pin.image} at {pin.digest}; "
            f"`docker pull {pin.image}@{pin.digest}` fetches it",
        )
    wanted = {pin.digest, pin.platform_digest} - {None}
    for image in seen:
        known = {image.get("id"), image.get("manifest")}
        known |= {str(digest).partition("@")[2] for digest in image.get("repo_digests") or []}
        if wanted & known:
            return _check(
                role, name, pin, image, PinState.MATCHES, "the image that the Docker engine will run"
            )
    told = f"{pin.image} on the Docker engine has another digest: the tag moved, or the pin is old"
    return _check(role, name, pin, seen[0], PinState.DIFFERS, told)


def refuse_architecture(image: Mapping[str, Json], machine: str) -> None:
    """BootError `wrong_architecture` where the host cannot run the image without emulation."""
    wanted, host = image.get("architecture"), MACHINES.get(machine, machine)
    if wanted and wanted != host:
        raise BootError("wrong_architecture", f"the image is for {wanted}, the Docker host is {host}")


def _check(
    role: str, name: str, pin: ImagePin, observed: Mapping[str, Json], state: PinState, method: str
) -> PinCheck:
    return PinCheck(
        role=role, name=name, asked=pin.model_dump(), observed=dict(observed), state=state, method=method
    )
