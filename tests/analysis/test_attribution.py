from __future__ import annotations

from typing import Any

import pytest

from armgate.analysis.attribution import attribute
from armgate.model.arms import Arm, ProcessLauncher, Sampling, Speculative


def arm(name: str = "a", depth: int = 0, **fields: Any) -> Arm:
    speculative = Speculative(method="dflash", depth=depth, draft="draft") if depth else None
    defaults: dict[str, Any] = {
        "engine": "vllm",
        "launcher": ProcessLauncher(kind="process", python="python"),
        "target": "target",
        "reference": "a",
        "speculative": speculative,
        "serve": {"max_model_len": 8192, "dtype": "float32"},
    }
    return Arm(name=name, **{**defaults, **fields})


def test_arms_that_differ_in_name_and_boots_only_do_not_differ() -> None:
    found = attribute(arm("b", says="the other", reference="b"), arm())
    assert (found.factor, found.differences, found.confounded) == ("nothing differs", (), False)


def test_speculation_against_none_names_all_that_it_implies() -> None:
    found = attribute(arm("b", depth=7), arm())
    assert found.factor == "dflash depth 7 against no speculation"
    assert [(d.path, d.arm, d.reference) for d in found.differences] == [
        ("speculative.depth", 7, None),
        ("speculative.draft", "draft", None),
        ("speculative.method", "dflash", None),
    ]
    assert found.confounded is False


def test_depth_alone() -> None:
    found = attribute(arm("b", depth=7), arm(depth=3))
    assert found.factor == "dflash depth 7 against dflash depth 3"
    assert [d.path for d in found.differences] == ["speculative.depth"]


def test_depth_with_another_method_is_no_claim_about_depth() -> None:
    ngram = Speculative(method="ngram", depth=7, options={"prompt_lookup_max": 4})
    found = attribute(arm("b", speculative=ngram), arm(depth=3))
    assert found.factor.startswith("speculation as a whole: speculative.depth, speculative.draft, ")
    assert found.confounded is False


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"chat_template": "forced-off"}, "chat_template"),
        ({"target": "other"}, "target"),
        ({"serve": {"max_model_len": 8192, "dtype": "bfloat16"}}, "serve.dtype"),
        ({"serve": {"max_model_len": 8192}}, "serve.dtype"),
        ({"sampling": Sampling(temperature=0.5)}, "sampling.temperature"),
        ({"thinking": "off"}, "thinking"),
        (
            {"launcher": ProcessLauncher(kind="process", python="python", env={"OMP_NUM_THREADS": "1"})},
            "launcher.env.OMP_NUM_THREADS",
        ),
        ({"chat_template_kwargs": {"enable_thinking": False}}, "chat_template_kwargs.enable_thinking"),
        ({"packages": "overlay"}, "packages"),
        ({"modalities": ("text", "image")}, "modalities"),
    ],
)
def test_every_planted_confound_is_named(fields: dict[str, Any], path: str) -> None:
    found = attribute(arm("b", depth=7, **fields), arm())
    assert path in [d.path for d in found.differences]
    assert found.confounded is True
    assert found.factor.startswith("confounded: ")
    assert path in found.factor


def test_values_of_another_type_differ() -> None:
    found = attribute(arm(serve={"n": 1}), arm(serve={"n": True}))
    assert [(d.path, d.arm, d.reference) for d in found.differences] == [("serve.n", 1, True)]


def test_unknown_settings_are_not_taken_for_equal() -> None:
    assert attribute(None, arm()).confounded is None
    assert "not known" in attribute(arm(), None).factor
