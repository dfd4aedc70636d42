from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armgate.judging.fences import extract_fenced_block, read_fences


def _blocks(text: str) -> list[tuple[str, bool]]:
    return [(block.code, block.closed) for block in read_fences(text).blocks]


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("no fence", []),
        ("```\nx\n```", [("x\n", True)]),
        ("```\nx\n```\n", [("x\n", True)]),
        ("```\nx\n```  \t\n", [("x\n", True)]),
        ("```\r\nx\r\n```\r\n", [("x\n", True)]),
        ("```\n```", [("", True)]),
        ("```", [("", False)]),
        ("```\n", [("", False)]),
        ("```\nx", [("x", False)]),
        ("```\nx\n    ```", [("x\n    ```", False)]),
        ("````\n```\n````", [("```\n", True)]),
        ("~~~\n```\n~~~", [("```\n", True)]),
        ("```\n~~~\n```", [("~~~\n", True)]),
        ("   ```\n   x\n   ```", [("x\n", True)]),
        ("    ```\n    x\n    ```", []),
        ("> ```\n> x\n\nbehind", [("x\n", False)]),
        ("- ```\n  x\n  ```", [("x\n", True)]),
        ("```a`b\nx\n", []),
        ("a\n```\nb", [("b", False)]),
        ("<!--\n```\n-->\n", []),
        ("```py\na\n```\n```py\nb\n```", [("a\n", True), ("b\n", True)]),
    ],
)
def test_blocks_are_those_of_commonmark(text: str, blocks: list[tuple[str, bool]]) -> None:
    assert _blocks(text) == blocks


def test_offsets_cut_the_text_into_its_parts() -> None:
    text = 'before\n```py title="a"\n정답\n```\nafter'
    block = read_fences(text).blocks[0]
    assert text[: block.outer[0]] == "before\n"
    assert text[slice(*block.inner)] == "정답\n"
    assert text[block.outer[1] :] == "after"
    assert (block.info, block.word, block.fence) == ('py title="a"', "py", "```")


def test_the_extractor_takes_one_closed_block_and_nothing_else() -> None:
    assert extract_fenced_block("정:\n```python\nprint(1)\n```\nbehind") == ("print(1)\n", (15, 24))
    for text in (
        "print(1)",
        "```\na",
        "```\na\n```\n```\nb\n```",
        "def f():\n    return 1\n```",
        "",
        "```\n" * 50_000,
    ):
        assert extract_fenced_block(text) is None


def test_the_extracted_text_keeps_its_bytes() -> None:
    assert extract_fenced_block("```\r\na\r\nb\x00\r\n```") == ("a\r\nb\x00\r\n", (5, 12))


def test_an_indented_block_is_dedented() -> None:
    assert extract_fenced_block("  ```\n  a\n    b\n  ```") == ("a\n  b\n", (6, 16))


@given(
    st.lists(st.sampled_from(["```", "````", "~~~", "x", "", " ```py", "    ```", "> a", "- b"]), max_size=12)
)
def test_parts_are_in_order_and_inside_the_text(lines: list[str]) -> None:
    text = "\n".join(lines)
    behind = 0
    for block in read_fences(text).blocks:
        assert behind <= block.outer[0] <= block.inner[0] <= block.inner[1] <= block.outer[1] <= len(text)
        behind = block.outer[1]


@given(st.text(alphabet="ab \n`", max_size=60))
def test_one_extracted_block_stands_in_the_text_at_its_span(inner: str) -> None:
    text = f"정\n``````\n{inner}\n``````\n"
    found = extract_fenced_block(text)
    if found is not None:
        assert text.encode()[slice(*found[1])].decode() == found[0]
