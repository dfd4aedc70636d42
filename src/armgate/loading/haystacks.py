"""Haystack recipes in files of their own, and what of a recipe can be refused before anything is booted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from armgate.errors import DeclarationError, Problem, UsageError
from armgate.loading.markers import draw
from armgate.loading.strict_yaml import load_document, validate
from armgate.loading.workspace import Workspace
from armgate.model.base import digest_bytes
from armgate.model.gates import Gate
from armgate.model.haystack import CorpusFiller, HaystackFile, HaystackSpec

FOLDER = "gates/haystacks"

RETRIEVAL_ONLY = frozenset({"haystack", "ask", "answer"})
"""Fields of a gate that no other check reads; a probe's own haystack is for all of them."""


def named_haystack(workspace: Workspace, name: str) -> tuple[HaystackSpec, Path]:
    """The recipe that a ladder names, and its file. Raises DeclarationError with file, line and field."""
    path = workspace.named(FOLDER, name, ".yaml")
    declared = validate(load_document(path), HaystackFile)
    if declared.id != name:
        raise DeclarationError(
            [Problem(path, None, None, "id", f"is {declared.id!r}, the file says {name!r}")]
        )
    fields = {field: getattr(declared, field) for field in HaystackSpec.model_fields}
    return HaystackSpec.model_construct(**fields), path


def recipe_problems(gate: Gate) -> Iterator[tuple[str, str]]:
    """(field, message) for a haystack without a length, and for what only retrieval gates read."""
    if gate.check != "retrieval":
        for field in sorted(gate.model_fields_set & RETRIEVAL_ONLY):
            yield field, f"{field!r} is of check 'retrieval'; {gate.check!r} does not read it"
    if gate.sweep is not None and gate.check != "retrieval":
        yield "sweep", f"a sweep is of check 'retrieval'; {gate.check!r} has grids"
    if isinstance(gate.haystack, HaystackSpec) and gate.sweep is None and not gate.haystack.has_length:
        yield "haystack", "no length: give target_tokens or lines, or a sweep"


def corpus_file(workspace: Workspace, filler: CorpusFiller) -> Path:
    """The corpus' file, if `corpus_text` can be made of it."""
    corpus_text(workspace, filler)
    return workspace.path(filler.file)


def corpus_text(workspace: Workspace, filler: CorpusFiller) -> str:
    """The corpus, if it is the pinned one, UTF-8 and not blank; else DeclarationError, with both digests."""
    path = workspace.path(filler.file)
    if not path.is_file():
        raise DeclarationError([Problem(None, None, None, "filler.file", f"no such file: {filler.file}")])
    data = path.read_bytes()
    seen = digest_bytes(data).removeprefix("sha256:")
    if seen != filler.sha256:
        message = f"{filler.file} has sha256 {seen}, the recipe pins {filler.sha256}"
        raise DeclarationError([Problem(None, None, None, "filler.sha256", message)])
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"{filler.file} is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}"
        raise DeclarationError([Problem(None, None, None, "filler.file", message)]) from None
    if not text.strip():
        message = f"{filler.file} has nothing but white space"
        raise DeclarationError([Problem(None, None, None, "filler.file", message)])
    return text


def refuse_unbuildable(spec: HaystackSpec) -> None:
    """Raises DeclarationError where no text can follow from the recipe, whatever the tokenizer."""
    try:
        draw(spec)
    except UsageError as error:
        raise DeclarationError([Problem(None, None, None, "haystack", str(error))]) from None
