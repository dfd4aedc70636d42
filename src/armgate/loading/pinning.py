"""A campaign file whose floating references are replaced by identities: everything else stays as written."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, MutableMapping
from typing import NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from armgate.errors import DeclarationError, Problem

_COMMIT = re.compile(r"[0-9a-f]{40}\Z")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}\Z")
_TAGGED = re.compile(r"(?P<image>.+):(?P<tag>[\w][\w.-]*)\Z")


class Resolvers(NamedTuple):
    """What a name leads to now; each asks somebody or reads something."""

    revision: Callable[[str, str], str]
    """(repository, branch or tag) -> commit."""
    digest: Callable[[str, str], str]
    """(image, tag) -> digest."""
    tree: Callable[[str], str]
    """Folder -> digest of its tree."""
    sha256: Callable[[str], str]
    """File -> hex digest."""


class Resolved(NamedTuple):
    """One reference that became an identity."""

    pin: str
    was: str
    now: str


def pinned(text: str, resolvers: Resolvers) -> tuple[str, tuple[Resolved, ...]]:
    """The file's text with every pin fixed, and what was resolved; nothing is written here.

    Comments, order and quotes are kept. Raises what the resolvers raise: one that fails leaves all as it was.
    """
    yaml = YAML(typ="rt", pure=True)
    yaml.preserve_quotes = True
    yaml.width = 4096
    document = yaml.load(text)
    pins = document.get("pins") if isinstance(document, Mapping) else None
    if not isinstance(pins, Mapping):
        raise DeclarationError([Problem(None, None, None, "pins", "the file has no pins")])
    resolved = [found for name, pin in pins.items() if (found := _fix(str(name), pin, resolvers)) is not None]
    if not resolved:
        return text, ()
    out = io.StringIO()
    yaml.dump(document, out)
    return out.getvalue(), tuple(resolved)


def _fix(name: str, pin: object, resolvers: Resolvers) -> Resolved | None:
    if not isinstance(pin, MutableMapping):
        return None
    if "hf" in pin:
        return _fix_revision(name, pin, resolvers)
    if "image" in pin:
        return _fix_image(name, pin, resolvers)
    if "dir" in pin and "tree" not in pin:
        pin["tree"] = DoubleQuotedScalarString(resolvers.tree(str(pin["dir"])))
        return Resolved(name, f"{pin['dir']}, no digest", pin["tree"])
    if "file" in pin and "sha256" not in pin:
        pin["sha256"] = DoubleQuotedScalarString(resolvers.sha256(str(pin["file"])))
        return Resolved(name, f"{pin['file']}, no digest", pin["sha256"])
    return None


def _fix_revision(name: str, pin: MutableMapping[str, object], resolvers: Resolvers) -> Resolved | None:
    asked = str(pin.get("revision", "main"))
    if _COMMIT.match(asked):
        return None
    # In quotes: a commit of digits alone, or with one `e` among them, is a number to YAML.
    pin["revision"] = DoubleQuotedScalarString(resolvers.revision(str(pin["hf"]), asked))
    return Resolved(name, f"{pin['hf']} at {asked}", str(pin["revision"]))


def _fix_image(name: str, pin: MutableMapping[str, object], resolvers: Resolvers) -> Resolved | None:
    tagged = _TAGGED.match(str(pin["image"]))
    image, tag = (
        (tagged["image"], tagged["tag"]) if tagged and "/" not in tagged["tag"] else (str(pin["image"]), None)
    )
    tag = str(pin["tag"]) if "tag" in pin else tag
    if tag is None and _DIGEST.match(str(pin.get("digest", ""))):
        return None
    digest = resolvers.digest(image, tag or "latest")
    pin["image"] = image
    pin.pop("tag", None)
    pin["digest"] = DoubleQuotedScalarString(digest)
    return Resolved(name, f"{image}:{tag or 'latest'}", digest)
