"""Task folders: what loads, and every problem with its file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from armgate.errors import DeclarationError
from armgate.loading.tasks import find_task, load_solutions, load_task, task_ids
from armgate.loading.workspace import Workspace

ROOT = Path(__file__).resolve().parents[2]
TASK = """\
schema: armgate/task/v1
id: double
kind: function
entry: double
prompt: prompt.jinja
cases:
  - {args: [2], expect: 4}
generated: {generator: generate.py, reference: reference.py, seed: 1, count: 5}
limits: {cpu_s: 2, wall_s: 8, memory_mb: 256, output_kb: 256, scratch_mb: 64}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "double"
    (place / "solutions" / "right").mkdir(parents=True)
    (place / "task.yaml").write_text(TASK)
    (place / "prompt.jinja").write_text("Double it.\n")
    (place / "generate.py").write_text("def generate(seed, count):\n    return [[n] for n in range(count)]\n")
    (place / "reference.py").write_text("def double(n):\n    return 2 * n\n")
    (place / "solutions" / "right" / "plain.py").write_text("double = lambda n: n + n\n")
    return place


def problems(place: Path) -> str:
    with pytest.raises(DeclarationError) as refused:
        load_task(place)
    return str(refused.value)


def test_a_task_comes_with_the_text_of_its_files(folder: Path) -> None:
    loaded = load_task(folder)
    assert loaded.task.limits.cpu_s == 2.0
    assert loaded.prompt == "Double it.\n"
    assert "def generate" in (loaded.generator or "")
    assert "def double" in (loaded.reference or "")
    assert loaded.planned == 6


@pytest.mark.parametrize("name", ["task.yaml", "prompt.jinja", "generate.py", "reference.py"])
def test_the_digest_covers_what_is_asked_and_how_it_is_judged(folder: Path, name: str) -> None:
    before = load_task(folder).digest
    assert load_task(folder).digest == before
    text = (folder / name).read_text()
    (folder / name).write_text(text.replace("count: 5", "count: 6") if name == "task.yaml" else text + "\n")
    assert load_task(folder).digest != before


def test_the_digest_leaves_the_shipped_solutions_out(folder: Path) -> None:
    before = load_task(folder).digest
    (folder / "solutions" / "right" / "other.py").write_text("x\n")
    assert load_task(folder).digest == before


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("kind: function", "kind: method", "task.yaml:3"),
        ("entry: double", "entri: double", "task.yaml:4"),
        ("{args: [2], expect: 4}", "{args: [2]}", "task.yaml:7"),
        ("memory_mb: 256", "memory_mb: lots", "task.yaml:9"),
        ("cpu_s: 2", "cpu_s: 20", "task.yaml:9"),
        ("generate.py", "absent.py", "task.yaml:8"),
        ("generate.py", "../double/../../x.py", "leaves the task's folder"),
        ("prompt.jinja", "absent.jinja", "task.yaml:5"),
        ("  - {args", "  - {args", ""),
    ],
)
def test_problems_have_a_file_and_a_line(folder: Path, old: str, new: str, says: str) -> None:
    if not says:
        assert load_task(folder).task.id == "double"
        return
    (folder / "task.yaml").write_text(TASK.replace(old, new))
    assert says in problems(folder)


def test_a_reference_that_does_not_parse_has_a_line_too(folder: Path) -> None:
    (folder / "reference.py").write_text("def double(n):\n    return 2 *\n")
    assert "reference.py:2" in problems(folder)


@pytest.mark.parametrize("name", ["generate.py", "reference.py"])
def test_files_that_lack_their_function_are_refused(folder: Path, name: str) -> None:
    (folder / name).write_text("x = 1\n")
    assert f"{name}:1" in problems(folder)


def test_tasks_are_found_by_path_and_by_id(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = Workspace(ROOT)
    monkeypatch.chdir(folder.parent)
    for name in (str(folder), "double", str(folder / "task.yaml")):
        assert find_task(name, workspace).task.id == "double"
    monkeypatch.chdir(ROOT)
    assert find_task("merge-intervals", workspace).task.entry == "merge_intervals"


def test_a_task_that_is_found_by_its_name_bears_it(tmp_path: Path, folder: Path) -> None:
    place = tmp_path / "gates" / "tasks" / "triple"
    place.parent.mkdir(parents=True)
    folder.rename(place)
    with pytest.raises(DeclarationError, match=r"task.yaml:2:\d+: id: .* 'triple'"):
        find_task("triple", Workspace(tmp_path))
    assert find_task(str(place), None).task.id == "double"


def test_a_task_without_a_prompt_can_be_run_and_not_asked(folder: Path) -> None:
    (folder / "task.yaml").write_text(TASK.replace("prompt: prompt.jinja\n", ""))
    (folder / "prompt.jinja").unlink()
    assert load_task(folder).prompt is None


def test_an_unknown_task_names_the_nearest() -> None:
    with pytest.raises(DeclarationError, match="merge-intervals"):
        find_task("merge-interval", Workspace(ROOT))
    with pytest.raises(DeclarationError, match="no task folder"):
        find_task("absent", None)


def test_every_shipped_task_has_its_solutions() -> None:
    workspace = Workspace(ROOT)
    ids = task_ids(workspace)
    assert {"merge-intervals", "is-even", "largest"} <= set(ids)
    assert len(ids) >= 13
    kinds = set()
    for name in ids:
        loaded, shipped = find_task(name, workspace), load_solutions(name, workspace)
        kinds.add(loaded.task.kind)
        assert (loaded.prompt or "").strip()
        assert sum(one.right for one in shipped) >= 3, name
        assert sum(not one.right for one in shipped) >= 5, name
        assert len({one.text for one in shipped}) == len(shipped), name
    assert kinds == {"function", "program"}


def test_the_seeds_task_is_the_seeds() -> None:
    task = find_task("merge-intervals", Workspace(ROOT)).task
    assert task.generated is not None
    assert (task.generated.seed, task.generated.count) == (827, 200)
    assert task.arguments == "unmutated"
