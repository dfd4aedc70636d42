"""Declared tasks: what they refuse, and values that YAML cannot say."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from armgate.model.plain import Comparison
from armgate.model.task import Case, LoadedTask, Task, TaskLimits


def task(**changes: Any) -> Task:
    fields: dict[str, Any] = {
        "schema": "armgate/task/v1",
        "id": "t",
        "kind": "function",
        "entry": "f",
        "prompt": "prompt.jinja",
        "cases": (Case(args=[1], expect=2),),
    }
    return Task(**(fields | changes))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"cases": ()}, "passes everything"),
        ({"entry": None}, "names its entry"),
        ({"kind": "program", "entry": None}, "not a program's case"),
        ({"cases": (Case(stdin="", stdout=""),)}, "not a function's case"),
        ({"kind": "program"}, "has none"),
    ],
)
def test_a_task_that_does_not_hold(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        task(**changes)


def test_a_program_leaves_no_arguments() -> None:
    with pytest.raises(ValidationError, match="no arguments"):
        task(kind="program", entry=None, cases=(Case(stdin="", stdout=""),), arguments="unmutated")


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"args": [1]},
        {"expect": 1},
        {"stdin": "a"},
        {"args": [1], "expect": 1, "stdin": "a"},
        {"args": [1], "args_literal": "[1]", "expect": 1},
        {"args_literal": "1", "expect": 1},
        {"args_literal": "[x]", "expect": 1},
        {"args_literal": "[__import__('os')]", "expect": 1},
        {"args": [1], "expect_literal": "("},
    ],
)
def test_a_case_that_does_not_hold(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Case(**fields)


def test_none_can_be_expected_but_not_forgotten() -> None:
    assert Case(args=[], expect=None).expected is None


def test_literals_say_what_yaml_cannot() -> None:
    case = Case(args_literal="[(1, 2), {3}]", expect_literal="{1: b'a'}")
    assert case.arguments == [(1, 2), {3}]
    assert case.expected == {1: b"a"}


def test_wall_time_is_the_wider_limit() -> None:
    with pytest.raises(ValidationError, match="busy machine"):
        TaskLimits(cpu_s=4, wall_s=2)


def test_a_case_may_have_its_own_rule() -> None:
    own = Comparison(float_abs=0.5)
    declared = task(cases=(Case(args=[1], expect=2), Case(args=[1], expect=2.0, compare=own)))
    loaded = LoadedTask(task=declared, digest="sha256:" + "0" * 64, prompt="")
    assert loaded.comparison("fixed-0") == Comparison()
    assert loaded.comparison("fixed-1") == own
    assert loaded.comparison("generated-1") == Comparison()
