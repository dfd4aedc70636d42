"""Code tasks from their folders: `task.yaml` and the files that it names, each problem with file and line."""

from __future__ import annotations

import ast
from pathlib import Path

from armgate.errors import DeclarationError, Problem
from armgate.loading.strict_yaml import Document, load_document, nearest, read_text, validate
from armgate.loading.workspace import Workspace
from armgate.model.base import Digest, digest_json
from armgate.model.task import LoadedTask, Solution, Task

FILE = "task.yaml"
FOLDER = "gates/tasks"


def load_task(folder: Path, named: bool = False) -> LoadedTask:
    """The task of a folder. DeclarationError names file and line of everything that does not hold.

    `named`: it was looked up by the folder's name, so that its id has to be the same.
    """
    declared = folder / FILE
    document = load_document(declared)
    task = validate(document, Task)
    if named and folder.name != task.id:
        message = f"the task's id is not the name of its folder, {folder.name!r}"
        raise DeclarationError([document.problem(("id",), message)])
    prompt = _file(folder, document, ("prompt",), task.prompt) if task.prompt is not None else None
    if task.generated is None:
        return LoadedTask(task=task, digest=_digest(task, prompt), prompt=prompt)
    generator = _source(folder, document, ("generated", "generator"), task.generated.generator, "generate")
    reference = _source(folder, document, ("generated", "reference"), task.generated.reference, task.entry)
    return LoadedTask(
        task=task,
        digest=_digest(task, prompt, generator, reference),
        prompt=prompt,
        generator=generator,
        reference=reference,
    )


def find_task(name: str, workspace: Workspace | None) -> LoadedTask:
    """A task by the path of its folder, or by its id in the workspace."""
    folder = task_folder(name, workspace)
    return load_task(folder, named=workspace is not None and folder == workspace.root / FOLDER / name)


def task_folder(name: str, workspace: Workspace | None) -> Path:
    path = Path(name)
    if path.name == FILE and path.is_file():
        return path.parent
    if path.is_dir():
        return path
    if workspace is not None and (workspace.root / FOLDER / name / FILE).is_file():
        return workspace.root / FOLDER / name
    hint = nearest(name, task_ids(workspace)) if workspace is not None else None
    message = f"no task folder of this path, nor of this name in {FOLDER}"
    raise DeclarationError([Problem(None, None, None, name, message, hint)])


def task_ids(workspace: Workspace) -> list[str]:
    return sorted(path.parent.name for path in (workspace.root / FOLDER).glob(f"*/{FILE}"))


def load_solutions(name: str, workspace: Workspace | None) -> list[Solution]:
    """The answers that a task ships to test itself: `solutions/right/*.py` and `solutions/wrong/*.py`."""
    folder = task_folder(name, workspace) / "solutions"
    return [
        Solution(name=path.relative_to(folder).as_posix(), right=which == "right", text=read_text(path))
        for which in ("right", "wrong")
        for path in sorted((folder / which).glob("*.py"))
    ]


def _source(folder: Path, document: Document, where: tuple[str, ...], name: str, entry: str | None) -> str:
    """Python that parses and, for a function, defines what will be called."""
    text = _file(folder, document, where, name)
    try:
        tree = ast.parse(text, name)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        problem = Problem(folder / name, line, None, "", f"is not Python: {error.args[0]}")
        raise DeclarationError([problem]) from None
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    if entry is not None and entry not in defined:
        raise DeclarationError([Problem(folder / name, 1, None, "", f"defines no function {entry}")])
    return text


def _file(folder: Path, document: Document, where: tuple[str, ...], name: str) -> str:
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise DeclarationError([document.problem(where, f"{name} leaves the task's folder")])
    if not path.is_file():
        raise DeclarationError([document.problem(where, f"{name} does not exist in the task's folder")])
    return read_text(path)


def _digest(task: Task, *texts: str | None) -> Digest:
    """Over what is asked and how it is judged; the solutions shipped beside it are not part of it."""
    return digest_json([task.model_dump(mode="json", by_alias=True), *texts])
