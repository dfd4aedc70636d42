from __future__ import annotations

from typing import Any

import pytest

from support.judged import judged, kinds, quoted

GOOD = '''def merge(intervals: list, *, key=None) -> list:
    """Merge."""
    # by start
    return intervals
'''


def test_source_that_keeps_every_promise_passes() -> None:
    options = {
        "defines": "merge(intervals: list, *, key=None) -> list",
        "imports": "none",
        "top_level": "definitions",
        "docstring": "required",
        "comments": "required",
    }
    assert judged({"python": options}, GOOD) == ()
    assert judged({"python": {}}, "x = 1  # 정답\r\ny = '#'\r\n") == ()


@pytest.mark.parametrize(
    ("text", "kind", "place"),
    [
        ("def f():\n\u00a0   return 1\n", "odd_character", "line 2, column 1"),
        ("x\u200b = 1\n", "odd_character", "line 1, column 2"),
        ("print(\u201chi\u201d)\n", "odd_character", "U+201C"),
        ("print（1）\n", "odd_character", "U+FF08"),
        ("\ufeffx = 1\n", "byte_order_mark", "U+FEFF"),
        ("x = (1\n", "not_python", "line 1"),
        ("a\x00b", "not_python", "null bytes"),
        ("'\ud800'", "not_python", "U+D800"),
        ("  \n", "empty", ""),
        ("(" * 400, "too_deep", ""),
        ("x = 1\n" * 60_000, "too_large", ""),
    ],
)
def test_what_is_no_source_is_named_with_its_place(text: str, kind: str, place: str) -> None:
    violation = judged({"python": {}}, text)[0]
    assert violation.kind == kind
    assert place in violation.message


def test_text_around_fenced_code_is_a_breach_of_its_own() -> None:
    text = "Here it is:\n\n```python\nx = 1\n```\n\nWait, one more thing.\n"
    violations = judged({"python": {}}, text)
    assert [violation.kind for violation in violations] == ["not_python", "prose", "prose"]
    assert [quoted(v, text).strip() for v in violations[1:]] == ["Here it is:", "Wait, one more thing."]


@pytest.mark.parametrize(
    ("options", "text", "expected"),
    [
        ({"defines": "g"}, GOOD, ["not_defined"]),
        ({"defines": ["merge", "g"]}, GOOD, ["not_defined"]),
        ({"defines": "merge(a)"}, GOOD, ["signature"]),
        ({"defines": "merge(intervals, key)"}, GOOD, ["signature"]),
        ({"defines": "merge(intervals: tuple, *, key)"}, GOOD, ["signature"]),
        ({"defines": "merge(intervals, *, key=1)"}, GOOD, ["signature"]),
        ({"defines": "merge(intervals, *, key) -> tuple"}, GOOD, ["signature"]),
        ({"defines": "merge()"}, "class merge: ...", ["signature"]),
        ({"imports": "none"}, "import os\nfrom a.b import c\n", ["import", "import"]),
        ({"imports": ["a"]}, "import os\nfrom a.b import c\n", ["import"]),
        ({"top_level": "definitions"}, "'doc'\nimport os\nX = 1\nprint(X)\n", ["top_level", "top_level"]),
        ({"top_level": "definitions_and_constants"}, "X = -1\nY = f()\n", ["top_level"]),
        ({"type_hints": "required"}, GOOD, ["no_type_hint"]),
        ({"docstring": "required"}, "def f():\n    return 1\n", ["no_docstring"]),
        ({"comments": "required"}, "x = '# no'\ny = f'# {x} # no'\n", ["no_comment"]),
        ({"comments": "forbidden"}, "x = 1  # yes\n", ["comment"]),
    ],
)
def test_each_promise_can_be_broken(options: dict[str, Any], text: str, expected: list[str]) -> None:
    assert kinds({"python": options}, text) == expected


def test_spans_count_bytes_also_behind_other_letters() -> None:
    text = "# 정답\nimport os\n"
    assert quoted(judged({"python": {"imports": "none"}}, text)[0], text) == "import os"
    assert quoted(judged({"python": {"comments": "forbidden"}}, text)[0], text) == "# 정답"


def test_code_can_be_taken_out_of_the_only_block() -> None:
    clause = {"python": {"source": "fenced_block", "imports": "none"}}
    text = "정답:\n```python\nimport os\n```\n"
    assert quoted(judged(clause, text)[0], text) == "import os"
    assert kinds(clause, "x = 1\n") == ["no_single_block"]
    assert kinds(clause, "```python\nx = 1") == ["no_single_block"]


def test_a_block_in_a_list_is_judged_dedented_with_the_block_as_its_place() -> None:
    text = "- ```python\n  import os\n  ```\n"
    violation = judged({"python": {"source": "fenced_block", "imports": "none"}}, text)[0]
    assert quoted(violation, text) == "  import os\n"
