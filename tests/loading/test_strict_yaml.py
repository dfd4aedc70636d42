"""Strict YAML: plain data only, and every error with its line."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armgate.errors import DeclarationError
from armgate.loading.strict_yaml import load_text, nearest, parse_document
from armgate.model.arms import Campaign

SOURCE = Path("campaign.yaml")

CAMPAIGN = """\
schema: armgate/campaign/v1
name: small
reference: base
pins:
  target: {hf: some/model, revision: 0123456789abcdef0123456789abcdef01234567}
defaults:
  engine: vllm
arms:
  base: {}
  deep: {speculative: {method: ngram, depth: 3}}
ladder: gates/small.yaml
"""


def problems(text: str) -> list[str]:
    with pytest.raises(DeclarationError) as caught:
        load_text(text, SOURCE, Campaign)
    return [str(problem) for problem in caught.value.problems]


def test_a_sound_file_loads() -> None:
    campaign = load_text(CAMPAIGN, SOURCE, Campaign)
    assert list(campaign.arms) == ["base", "deep"]
    assert campaign.arms["deep"].speculative is not None
    assert campaign.arms["deep"].speculative.depth == 3


@pytest.mark.parametrize(
    ("old", "new", "place", "says"),
    [
        ("defaults:", "defualts:", "campaign.yaml:6:1: defualts", "did you mean 'defaults'?"),
        ("engine: vllm", "enigne: vllm", "campaign.yaml:7:3: defaults.enigne", "did you mean 'engine'?"),
        ("depth: 3", "depht: 3", "arms.deep.speculative.depht", "did you mean 'depth'?"),
        ("depth: 3", "depth: 0", "campaign.yaml:10:39", "greater than or equal to 1, found 0"),
        ("depth: 3", 'depth: "3"', "campaign.yaml:10:39", "valid integer"),
        (
            "revision: 0123456789abcdef0123456789abcdef01234567",
            "revision: main",
            "pins.target.revision",
            "40-hex commit",
        ),
        ("  base: {}\n", "  base: {}\n  base: {}\n", "campaign.yaml:10", "duplicate key"),
        ("reference: base", "reference: basis", "campaign.yaml", "not one of the arms: base, deep"),
        ("ladder: gates/small.yaml\n", "", "campaign.yaml", "required key 'ladder' is missing"),
    ],
)
def test_a_wrong_file_says_where_and_how_to_mend_it(old: str, new: str, place: str, says: str) -> None:
    assert old in CAMPAIGN
    told = "\n".join(problems(CAMPAIGN.replace(old, new)))
    assert place in told
    assert says in told


def test_a_floating_tag_is_refused_with_the_remedy() -> None:
    floating = CAMPAIGN.replace(
        "pins:\n", 'pins:\n  image: {image: "ghcr.io/some/vllm:latest", digest: "sha256:abc"}\n'
    )
    told = "\n".join(problems(floating))
    assert "campaign.yaml:5" in told
    assert "a tag can move" in told


def test_all_problems_are_told_at_once() -> None:
    broken = CAMPAIGN.replace("engine: vllm", "enigne: vllm").replace("depth: 3", "depth: 0")
    assert len(problems(broken)) == 2


@pytest.mark.parametrize(
    "text",
    [
        "a: !!python/object/apply:os.system [id]",
        "a: 2020-01-01",
        "a: .nan",
        "a: .inf",
        "1: x",
        "a: [1",
        "a: 1\na: 2",
        "- - - -" + " -" * 200 + " x",
    ],
)
def test_what_is_not_plain_data_is_refused(text: str) -> None:
    with pytest.raises(DeclarationError):
        parse_document(text, SOURCE)


def test_yaml_1_2_words_are_text() -> None:
    assert parse_document("thinking: off\ncountry: no", SOURCE).data == {"thinking": "off", "country": "no"}


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(DeclarationError):
        assert parse_document(text, SOURCE).source == SOURCE


def test_nearest_lists_what_is_allowed_where_nothing_is_close() -> None:
    assert nearest("zebra", ["alpha", "beta"]) == "allowed: alpha, beta"
    assert nearest("alfa", ["alpha", "beta"]) == "did you mean 'alpha'?"
