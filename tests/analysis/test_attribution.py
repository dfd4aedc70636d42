from __future__ import annotations

from typing import Any

import pytest

from armgate.analysis import attribution
from armgate.model.arms import Arm, AttachLauncher, ProcessLauncher, Sampling, Speculative
from armgate.model.comparison import ArmFigures, Attribution
from armgate.model.outcome import ArmVerdict


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


SEEN: dict[str, Any] = {"versions": {"vllm": "0.32"}, "resolved": {"max_model_len": 131072}}


def attribute(ours: Arm | None, theirs: Arm | None, observed: dict[str, Any] = SEEN) -> Attribution:
    """`observed`: what the first arm's boot turned out to be, beside the second's `SEEN`."""
    first = ArmFigures(name="ours", arm=ours, arm_verdict=ArmVerdict.ACCEPTED, observed=observed)
    second = ArmFigures(name="theirs", arm=theirs, arm_verdict=ArmVerdict.ACCEPTED, observed=SEEN)
    return attribution.attribute(first, second)


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
    assert found.factor.startswith("confounded: speculative.depth, speculative.draft, ")
    assert found.confounded is True


@pytest.mark.parametrize(
    ("draft", "path"),
    [
        (Speculative(method="dflash", depth=7, draft="other"), "speculative.draft"),
        (Speculative(method="eagle", depth=7, draft="draft"), "speculative.method"),
        (
            Speculative(method="dflash", depth=7, draft="draft", options={"window": 9}),
            "speculative.options.window",
        ),
    ],
)
def test_two_depths_are_compared_only_where_the_draft_is_the_same(draft: Speculative, path: str) -> None:
    found = attribute(arm("b", speculative=draft), arm(depth=3))
    assert (found.confounded, found.factor) == (True, f"confounded: speculative.depth, {path}")


def test_one_field_by_itself_is_a_factor() -> None:
    found = attribute(arm("b", serve={"max_model_len": 8192, "dtype": "bfloat16"}), arm())
    assert (found.factor, found.confounded) == ("serve.dtype: bfloat16 against float32", False)


def test_what_the_boot_turned_out_to_be_counts_as_much_as_what_was_asked() -> None:
    observed = {"versions": {"vllm": "0.33"}, "resolved": {"max_model_len": 64832}}
    found = attribute(arm("b", depth=7), arm(), observed)
    assert found.confounded is True
    assert "observed.versions.vllm" in found.factor
    assert "observed.resolved.max_model_len" in found.factor
    assert attribute(arm("b", depth=7), arm(), {}).confounded is False


def test_pins_differ_by_what_they_are_and_not_by_their_names() -> None:
    weights = {"hf": "org/model", "revision": "a" * 40}

    def side(name: str, target: str, revision: str) -> ArmFigures:
        return ArmFigures(
            name=name,
            arm=arm(name, target=target),
            arm_verdict=ArmVerdict.ACCEPTED,
            pins={"target": {**weights, "revision": revision}},
        )

    same = attribution.attribute(side("b", "alias", "a" * 40), side("a", "target", "a" * 40))
    assert same.factor == "nothing differs"
    moved = attribution.attribute(side("b", "target", "b" * 40), side("a", "target", "a" * 40))
    assert [one.path for one in moved.differences] == ["target.revision"]


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


def test_what_only_makes_a_server_tell_more_is_no_difference() -> None:
    serve = {"max_model_len": 8192, "dtype": "float32", "per_request_spec_decode_metrics": "summary"}
    found = attribute(arm("b", depth=7, serve=serve), arm())
    assert (found.factor, found.confounded) == ("dflash depth 7 against no speculation", False)


def test_a_server_on_another_machine_is_another_condition_and_another_port_is_not() -> None:
    here, port, there = (
        AttachLauncher(kind="attach", url=url)
        for url in ("http://h200:8000", "http://h200:8001", "http://spark:8000")
    )
    assert attribute(arm("b", launcher=port, depth=7), arm(launcher=here)).confounded is False
    found = attribute(arm("b", launcher=there, depth=7), arm(launcher=here))
    assert found.confounded is True
    assert "launcher.host" in found.factor
