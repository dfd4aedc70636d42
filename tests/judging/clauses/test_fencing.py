from __future__ import annotations

import pytest

from support.judged import judged, kinds, quoted

BLOCK = "```python\nx = 1\n```"


def test_no_fence_passes_what_commonmark_takes_for_no_fence() -> None:
    for text in ("x = 1\n", 'def f():\n    """Use ```x``` inline."""\n', "a `b` c", "def f():\n    ```\n"):
        assert judged({"no_fence": {}}, text) == ()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (BLOCK, "fence"),
        ("~~~\nx\n~~~\n", "fence"),
        ("x = 1\n```", "stray_fence"),
        ("```python\nx = 1", "unclosed_fence"),
        ("- ```\n  x\n  ```\n", "fence"),
        ("```python print(1)```\n", "fence_line"),
    ],
)
def test_no_fence_names_what_kind_of_fence_stands_there(text: str, kind: str) -> None:
    assert kinds({"no_fence": {}}, text) == [kind]


def test_every_fence_is_a_violation_of_its_own() -> None:
    text = f"{BLOCK}\n\ntext\n\n{BLOCK}\n"
    violations = judged({"no_fence": {}}, text)
    assert [quoted(violation, text).strip() for violation in violations] == [BLOCK, BLOCK]


def test_one_fence_passes_one_closed_block_of_any_info() -> None:
    for text in (BLOCK, BLOCK + "\n", "``` \nx\n```", "```{.python .numberLines}\nx\n```", "~~~~\n```\n~~~~"):
        assert judged({"one_fence": {}}, text) == ()


def test_text_outside_the_block_is_refused_unless_declared() -> None:
    text = f"Here:\n{BLOCK}\n\nThis sets x."
    violations = judged({"one_fence": {}}, text)
    assert [violation.kind for violation in violations] == ["text_before", "text_after"]
    assert [quoted(violation, text) for violation in violations] == ["Here:\n", "\nThis sets x."]
    assert judged({"one_fence": {"outside": "prose"}}, text) == ()


def test_blank_lines_outside_are_a_declared_tolerance() -> None:
    text = f"\n\n{BLOCK}\n \n"
    assert kinds({"one_fence": {}}, text) == ["text_before", "text_after"]
    assert judged({"one_fence": {"outside": "blank"}}, text) == ()
    assert kinds({"one_fence": {"outside": "blank"}}, f"\u00a0\n{BLOCK}") == ["text_before"]


def test_the_info_string_can_be_limited_to_words_as_written() -> None:
    clause = {"one_fence": {"info": ["python", "py"]}}
    assert judged(clause, '```py title="a b.py"\nx\n```') == ()
    for info in ("Python", "", "python3", "{.python}"):
        assert kinds(clause, f"```{info}\nx\n```") == ["info"]


def test_one_fence_tells_all_that_is_wrong_at_once() -> None:
    text = "a\n```\nx\n```\nb\n```js\n"
    assert kinds({"one_fence": {"info": ["py"]}}, text) == [
        "several_blocks", "info", "stray_fence", "info", "text_before", "text_between",
    ]  # fmt: skip


def test_a_block_in_a_list_stands_not_alone() -> None:
    assert kinds({"one_fence": {}}, "- ```\n  x\n  ```\n") == ["nested_block"]
    assert kinds({"one_fence": {}}, "```\n \n```") == ["empty_block"]


def test_markdown_too_long_to_parse_is_a_breach_and_no_hang() -> None:
    assert kinds({"one_fence": {}}, "```\n" * 200_000) == ["too_large"]
    assert kinds({"no_fence": {}}, "```\n" * 200_000)[:2] == ["fence_line", "fence_line"]
    assert kinds({"plain_text": {}}, "[" * 100_000) == ["too_large"]


def test_plain_text_names_each_kind_of_markdown() -> None:
    text = "# A\n\n- **b**\n\n> c\n\n`d` [e](f)\n\n| a |\n|---|\n| 1 |\n"
    found = {violation.kind for violation in judged({"plain_text": {}}, text)}
    assert found == {"heading", "list", "strong", "quote", "inline_code", "link", "table"}
    assert judged({"plain_text": {"allow": sorted(found - {"table"})}}, text)[0].kind == "table"
    assert judged({"plain_text": {}}, "Two paragraphs.\n\nOf 2 * 3 = 6 stars and a_b_c.") == ()
