"""Images against pins: digests of index and platform are both kept, another machine's image is refused."""

import pytest

from armgate.engines.images import check_image, references, refuse_architecture, seen_image
from armgate.errors import BootError
from armgate.model.pins import ImagePin, PinState

INDEX, PLATFORM, IDENTITY, OTHER = ("sha256:" + letter * 64 for letter in "abcd")
PIN = ImagePin(image="org/engine", digest=INDEX, platform_digest=PLATFORM)
SEEN = seen_image(
    {
        "Id": IDENTITY,
        "RepoDigests": [f"org/engine@{INDEX}"],
        "Descriptor": {"digest": PLATFORM},
        "Architecture": "arm64",
        "Os": "linux",
        "Size": 7,
    }
)


def test_every_identity_of_an_image_is_kept() -> None:
    assert SEEN["id"] == IDENTITY
    assert SEEN["repo_digests"] == [f"org/engine@{INDEX}"]
    assert SEEN["manifest"] == PLATFORM


@pytest.mark.parametrize("digest", [INDEX, PLATFORM, IDENTITY])
def test_a_pin_may_name_index_platform_or_an_image_made_here(digest: str) -> None:
    pin = ImagePin(image="org/engine", digest=digest)
    check = check_image("image", "image", pin, [SEEN])
    assert check.state is PinState.MATCHES
    assert check.observed == SEEN
    assert references(pin) == [f"org/engine@{digest}", digest]


def test_a_moved_tag_differs_and_both_sides_are_on_record() -> None:
    pin = ImagePin(image="org/engine", digest=OTHER)
    check = check_image("image", "image", pin, [SEEN])
    assert check.state is PinState.DIFFERS
    assert check.asked["digest"] == OTHER
    assert check.observed == SEEN


def test_an_image_that_is_not_there_is_told_with_the_command_that_fetches_it() -> None:
    with pytest.raises(BootError, match=f"docker pull org/engine@{INDEX}") as caught:
        check_image("image", "image", PIN, [])
    assert caught.value.cause == "image_not_found"


def test_an_image_for_another_machine_is_refused() -> None:
    refuse_architecture(SEEN, "aarch64")
    with pytest.raises(BootError, match="for arm64, the Docker host is amd64") as caught:
        refuse_architecture(SEEN, "x86_64")
    assert caught.value.cause == "wrong_architecture"
