"""Campaigns: defaults under overrides, names that stand for something, references in an order."""

import json
from pathlib import Path
from typing import Any

import pytest

from armgate.errors import DeclarationError
from armgate.loading.campaigns import load_campaign
from armgate.model.arms import ProcessLauncher

ENGINES = {"vllm": frozenset({"port"})}


def write(tmp_path: Path, **changes: Any) -> Path:
    body: dict[str, Any] = {
        "schema": "armgate/campaign/v1",
        "name": "c",
        "reference": "base",
        "pins": {"target": {"hf": "org/model", "revision": "a" * 40}},
        "defaults": {
            "engine": "vllm",
            "launcher": {"kind": "process", "python": "p", "env": {"A": "1"}},
            "target": "target",
            "serve": {"max_model_len": 10, "enforce_eager": True},
            "sampling": {"temperature": 0.0, "seed": 5},
        },
        "arms": {"base": {}},
        "ladder": "gates/l.yaml",
    }
    path = tmp_path / "c.yaml"
    path.write_text(json.dumps({**body, **changes}))
    return path


def test_overrides_are_laid_over_defaults_key_by_key(tmp_path: Path) -> None:
    arms = {"base": {}, "long": {"serve": {"max_model_len": 20}, "sampling": {"seed": 6}}}
    loaded = load_campaign(write(tmp_path, arms=arms), ENGINES)
    assert loaded.arms["long"].serve == {"max_model_len": 20, "enforce_eager": True}
    assert loaded.arms["long"].sampling.seed == 6
    assert loaded.arms["long"].sampling.temperature == 0.0
    assert loaded.arms["base"].serve["max_model_len"] == 10


def test_a_launcher_of_another_kind_replaces_the_default(tmp_path: Path) -> None:
    arms = {"base": {}, "there": {"launcher": {"kind": "attach", "url": "http://127.0.0.1:1"}}}
    loaded = load_campaign(write(tmp_path, arms=arms), ENGINES)
    assert loaded.arms["there"].launcher.kind == "attach"


def test_references_boot_before_what_is_judged_against_them(tmp_path: Path) -> None:
    arms: dict[str, Any] = {
        "fast": {"reference": "other"},
        "other": {"reference": "other"},
        "last": {},
        "base": {},
    }
    loaded = load_campaign(write(tmp_path, arms=arms), ENGINES)
    assert list(loaded.arms) == ["base", "other", "fast", "last"]


def test_references_in_a_circle_are_refused(tmp_path: Path) -> None:
    arms = {"base": {}, "a": {"reference": "b"}, "b": {"reference": "a"}}
    with pytest.raises(DeclarationError, match="a -> b -> a"):
        load_campaign(write(tmp_path, arms=arms), ENGINES)


@pytest.mark.parametrize(
    ("arm", "says"),
    [
        ({"target": "tarot"}, "no pin 'tarot'"),
        ({"packages": "target"}, "cannot be used as packages: a pin of kind packages is needed"),
        ({"speculative": {"method": "dflash", "depth": 3, "draft": "none"}}, "no pin 'none'"),
        ({"launcher": {"kind": "container", "image": "im"}}, "no pin 'im'"),
        ({"engine": "vlm"}, "did you mean 'vllm'"),
        ({"serve": {"port": 1}}, "set by Armgate"),
        ({"reference": "bse"}, "did you mean 'base'"),
    ],
)
def test_names_that_stand_for_nothing_are_told_where_they_were_written(
    tmp_path: Path, arm: dict[str, Any], says: str
) -> None:
    with pytest.raises(DeclarationError) as caught:
        load_campaign(write(tmp_path, arms={"base": {}, "x": arm}), ENGINES)
    told = str(caught.value)
    assert says in told
    assert "arms.x" in told


def test_a_setting_that_nobody_gives_is_told(tmp_path: Path) -> None:
    with pytest.raises(DeclarationError, match="'engine' is set neither in the arm nor in defaults"):
        load_campaign(write(tmp_path, defaults={}), ENGINES)


def started(**settings: Any) -> dict[str, Any]:
    return {"launcher": {"kind": "process", "python": "p", **settings}}


def drafting(**options: Any) -> dict[str, Any]:
    return {"speculative": {"method": "ngram", "depth": 3, "options": options}}


@pytest.mark.parametrize(
    ("arm", "says"),
    [
        (started(env={"HF_TOKEN": "hf_FAKEabcdefgh"}), "pass_env"),
        (started(env={"VLLM_API_KEY": "something"}), "pass_env"),
        (started(env={"VLLM_CACHE_ROOT": "/shared"}), "no two arms share it"),
        (drafting(num_speculative_tokens=7), "follows"),
        (drafting(model="other/model"), "follows"),
    ],
)
def test_what_would_leak_or_run_another_arm_is_refused(
    tmp_path: Path, arm: dict[str, Any], says: str
) -> None:
    with pytest.raises(DeclarationError, match=says) as refused:
        load_campaign(write(tmp_path, arms={"base": {}, "other": arm}), ENGINES)
    assert refused.value.problems[0].line is not None


def test_names_of_variables_may_be_passed_on(tmp_path: Path) -> None:
    arms = {"base": started(pass_env=["HF_TOKEN"])}
    launcher = load_campaign(write(tmp_path, arms=arms), ENGINES).arms["base"].launcher
    assert isinstance(launcher, ProcessLauncher)
    assert launcher.pass_env == ("HF_TOKEN",)
