"""Functions that run inside the sandbox, called here: values on the wire, the scratch folder, BPF aside."""

from __future__ import annotations

import types
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armgate.execution.harness import MODULES, load_harness, sandbox_folder
from armgate.model.plain import DEPTH, decode, encode, same
from armgate.model.plain import Comparison as Rule
from support.harness import harness_modules

ROOM = 1 << 20

keys = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
values = st.recursive(
    keys | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.sets(keys, max_size=4)
        | st.frozensets(keys, max_size=4)
        | st.dictionaries(keys, inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def modules() -> Iterator[dict[str, types.ModuleType]]:
    with harness_modules("values", "scratch") as loaded:
        yield loaded


@given(value=values)
def test_both_sides_write_the_same_text(modules: dict[str, types.ModuleType], value: object) -> None:
    written = modules["values"].encode(value, ROOM).decode("ascii")
    assert written == encode(value)
    assert same(decode(written), value, Rule())


def test_both_sides_agree_on_depth(modules: dict[str, types.ModuleType]) -> None:
    assert modules["values"].DEPTH == DEPTH


@pytest.mark.parametrize("value", ["x" * 600, b"x" * 600, 1 << 5000, list(range(400)), [["x" * 90] * 9]])
def test_a_value_beyond_its_budget_is_told_early(modules: dict[str, types.ModuleType], value: object) -> None:
    with pytest.raises(modules["values"].TooLarge):
        modules["values"].encode(value, 1000)


class Sly(list):  # type: ignore[type-arg]
    def __iter__(self) -> Iterator[object]:
        raise AssertionError("a method of the answer's class was run")


@pytest.mark.parametrize("value", [Sly(), [Sly()], {1: Sly()}, 1j, object(), range(3), iter([])])
def test_only_exact_types_are_plain(modules: dict[str, types.ModuleType], value: object) -> None:
    with pytest.raises(modules["values"].NotPlain):
        modules["values"].encode(value, ROOM)


def test_a_value_in_itself_is_not_plain(modules: dict[str, types.ModuleType]) -> None:
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(modules["values"].NotPlain):
        modules["values"].encode(loop, ROOM)


def test_emptying_what_resists(modules: dict[str, types.ModuleType], tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    scratch = tmp_path / "scratch"
    inner = scratch
    for _ in range(30):
        inner = inner / ("d" * 100)
        inner.mkdir(parents=True)
    (scratch / "a\n\udcff").write_text("x")
    (scratch / "link").symlink_to(outside)
    (scratch / "closed").mkdir()
    (scratch / "closed" / "file").write_text("x")
    (scratch / "closed").chmod(0)
    assert modules["scratch"].empty(str(scratch))
    assert list(scratch.iterdir()) == []
    assert (outside / "kept").read_text() == "kept"


def test_what_cannot_be_emptied_is_told(modules: dict[str, types.ModuleType], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert not modules["scratch"].empty(str(tmp_path), budget_s=-1.0)
    assert not modules["scratch"].empty(str(tmp_path / "absent"))


def test_size_of_scratch(modules: dict[str, types.ModuleType], tmp_path: Path) -> None:
    deep = tmp_path / "closed" / "inner"
    deep.mkdir(parents=True)
    (deep / "file").write_bytes(bytes(64 << 10))
    (tmp_path / "closed").chmod(0)
    exceeds = modules["scratch"].exceeds
    assert exceeds(str(tmp_path), 32 << 10, 5.0) is True
    assert exceeds(str(tmp_path), 1 << 20, 5.0) is False
    assert exceeds(str(tmp_path), 1 << 20, -1.0) is None
    assert (tmp_path / "closed").stat().st_mode & 0o777 == 0
    (tmp_path / "closed").chmod(0o700)


def test_many_folders_at_once_are_too_much(modules: dict[str, types.ModuleType], tmp_path: Path) -> None:
    for number in range(modules["scratch"].MANY_FOLDERS + 2):
        (tmp_path / str(number)).mkdir()
    assert modules["scratch"].exceeds(str(tmp_path), 1 << 40, 5.0) is True


def test_the_harness_is_standard_library_only() -> None:
    import ast
    import sys

    for name, source in load_harness(sandbox_folder()).modules:
        for node in ast.walk(ast.parse(source, name)):
            imported = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            imported += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for module in imported:
                top = module.split(".")[0]
                assert top in sys.stdlib_module_names or top in MODULES, f"{name} imports {module}"
