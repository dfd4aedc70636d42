from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from armgate.model.haystack import HaystackSpec


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"target_tokens": 9, "lines": 9}, "exactly one of target_tokens and lines"),
        ({"lines": 9, "markers": [{"id": "a"}, {"id": "a"}]}, "marker ids used twice"),
        ({"lines": 9, "markers": [{"id": "a"}], "decoys": [{"of": "b", "depth": 0.5}]}, "not declared: b"),
        ({"lines": 9, "markers": [{"id": "a", "place": "header"}]}, r"does not contain \{a\}"),
        ({"lines": 9, "markers": [{"id": "a", "depth": 1.5}]}, "less than or equal to 1"),
        ({"lines": 9, "filler": {"kind": "novel"}}, "novel"),
    ],
)
def test_a_recipe_that_does_not_hold_is_refused(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        HaystackSpec.model_validate({"question": "Which?", **fields}, strict=False)


def test_a_recipe_reads_from_plain_data() -> None:
    spec = HaystackSpec.model_validate(
        {
            "question": "Which?",
            "target_tokens": 900,
            "filler": {"kind": "prose"},
            "markers": [{"id": "a", "depth": 0.25}],
        },
        strict=False,
    )
    assert spec.filler.kind == "prose"
    assert spec.tolerance_tokens == 8
