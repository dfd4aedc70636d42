"""Pinning: floating references become identities, everything else of the file stays as a person wrote it."""

import pytest

from armgate.errors import DeclarationError, InfrastructureError
from armgate.loading.pinning import Resolvers, pinned
from armgate.loading.strict_yaml import parse_document

COMMIT, DIGEST, HEX = "1" * 39 + "e", "sha256:" + "2" * 64, "3" * 64

RESOLVERS = Resolvers(
    revision=lambda repository, reference: COMMIT,
    digest=lambda image, tag: DIGEST,
    tree=lambda folder: DIGEST,
    sha256=lambda file: HEX,
)

FILE = """\
# Which arm may ship?
schema: armgate/campaign/v1

pins:
  target: {hf: org/model, revision: main}   # moves
  draft: {hf: org/draft, revision: "4444444444444444444444444444444444444444"}
  image:
    image: registry.local:5000/org/engine:v4b   # a tag
  other: {image: org/other, tag: nightly}
  local: {dir: model}
  template: {file: chat.jinja}
  packages: {packages: {vllm: "0.32.0"}}

arms:
  baseline: {}     # the reference
"""


def test_everything_that_moves_is_fixed_and_nothing_else_is_touched() -> None:
    text, resolved = pinned(FILE, RESOLVERS)
    data = parse_document(text).data
    assert data["pins"] == {
        "target": {"hf": "org/model", "revision": COMMIT},
        "draft": {"hf": "org/draft", "revision": "4" * 40},
        "image": {"image": "registry.local:5000/org/engine", "digest": DIGEST},
        "other": {"image": "org/other", "digest": DIGEST},
        "local": {"dir": "model", "tree": DIGEST},
        "template": {"file": "chat.jinja", "sha256": HEX},
        "packages": {"packages": {"vllm": "0.32.0"}},
    }
    assert [one.pin for one in resolved] == ["target", "image", "other", "local", "template"]
    assert resolved[0].was == "org/model at main"
    assert resolved[1].was == "registry.local:5000/org/engine:v4b"
    for comment in ("# Which arm may ship?", "# moves", "# a tag", "# the reference"):
        assert comment in text
    untouched = [
        line for line in FILE.splitlines() if "draft" in line or "packages" in line or "baseline" in line
    ]
    assert all(line in text.splitlines() for line in untouched)


def test_a_pinned_file_stays_byte_for_byte() -> None:
    text, _ = pinned(FILE, RESOLVERS)
    assert pinned(text, RESOLVERS) == (text, ())


def test_what_cannot_be_asked_leaves_all_as_it_was() -> None:
    def offline(repository: str, reference: str) -> str:
        raise InfrastructureError("the hub cannot be asked")

    with pytest.raises(InfrastructureError):
        pinned(FILE, RESOLVERS._replace(revision=offline))


def test_a_file_without_pins_is_refused() -> None:
    with pytest.raises(DeclarationError, match="no pins"):
        pinned("schema: armgate/campaign/v1\n", RESOLVERS)
