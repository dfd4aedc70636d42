from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from armgate.errors import DeclarationError
from armgate.loading.published_figures import is_published, load_published_table


def variant(**fields: Any) -> dict[str, Any]:
    row = {
        "label": "speed-code-0",
        "usage": {"completion_tokens": 101},
        "ttft_s": 1.0,
        "wall_s": 6.0,
        "decode_est_tps": 20.0,
    }
    return {
        "variant": "off",
        "speculative_tokens": 0,
        "quality_passed": True,
        "strict_failures": [],
        "speculative_counters": {},
        "median_decode_est_tps": 20.0,
        "rows": [row],
        **fields,
    }


def table(folder: Path, *entries: Any) -> Path:
    (folder / "comparison.json").write_text(json.dumps(entries), "utf-8")
    return folder


def test_rows_are_read_with_the_prompt_they_repeat(tmp_path: Path) -> None:
    found = load_published_table(table(tmp_path, variant()))
    (off,) = found.variants
    assert (found.reference, off.qualified, off.drafts) == ("off", True, None)
    (row,) = off.rows
    assert (row.prompt, row.kind, row.decode_wall_rest) == ("speed-code", "code", 20.0)


def test_a_variant_that_failed_anything_is_not_qualified(tmp_path: Path) -> None:
    failure = {"probe": "code", "requirement": "no fence", "passed": False}
    found = load_published_table(table(tmp_path, variant(strict_failures=[failure])))
    assert (found.variants[0].qualified, found.variants[0].reasons) == (False, ("code: no fence",))


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ((variant(speculative_tokens=3),), "no variant with speculative_tokens 0"),
        (({"variant": "off"},), "KeyError: 'speculative_counters'"),
        ((7,), "TypeError"),
        ((variant(rows=[{"label": "x"}]),), "KeyError: 'usage'"),
    ],
)
def test_a_table_of_another_form_is_named(tmp_path: Path, entries: tuple[Any, ...], says: str) -> None:
    with pytest.raises(DeclarationError, match=says):
        load_published_table(table(tmp_path, *entries))


def test_a_run_of_ours_is_no_published_table(tmp_path: Path) -> None:
    assert not is_published(tmp_path)
    assert is_published(table(tmp_path, variant()))
    (tmp_path / "plan.json").write_text("{}")
    assert not is_published(tmp_path)
