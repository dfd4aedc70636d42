"""Recipes in files of their own, and what of a recipe is refused before anything is booted."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from armgate.errors import DeclarationError
from armgate.loading.haystacks import corpus_file, corpus_text, named_haystack, refuse_unbuildable
from armgate.loading.workspace import Workspace
from armgate.model.haystack import CorpusFiller, DecoySpec, HaystackSpec, MarkerSpec

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "gates" / "haystacks").mkdir(parents=True)
    return Workspace(tmp_path)


def test_every_shipped_recipe_can_be_built() -> None:
    shipped = Workspace(ROOT)
    for name in shipped.names("gates/haystacks", ".yaml"):
        spec, path = named_haystack(shipped, name)
        refuse_unbuildable(spec)
        assert path.stem == name
        assert type(spec) is HaystackSpec


def test_a_name_without_a_file_names_the_nearest_one() -> None:
    with pytest.raises(DeclarationError, match="two-spark-archive"):
        named_haystack(Workspace(ROOT), "two-spark-archiv")


def test_a_file_is_called_what_it_says(workspace: Workspace) -> None:
    file = workspace.root / "gates" / "haystacks" / "long.yaml"
    file.write_text("schema: armgate/haystack/v1\nid: longer\nlines: 3\nquestion: Which?\n")
    with pytest.raises(DeclarationError, match="is 'longer', the file says 'long'"):
        named_haystack(workspace, "long")
    file.write_text("schema: armgate/haystack/v1\nid: long\nlines: 3\nquestion: Which?\nlenght: 3\n")
    with pytest.raises(DeclarationError, match=r"long\.yaml:5.*lenght"):
        named_haystack(workspace, "long")


def test_a_corpus_is_the_pinned_one(workspace: Workspace) -> None:
    text = b"A line of a book.\n"
    (workspace.root / "book.txt").write_bytes(text)
    digest = hashlib.sha256(text).hexdigest()
    good = CorpusFiller(kind="corpus", file="book.txt", sha256=digest)
    assert corpus_file(workspace, good).read_bytes() == text
    with pytest.raises(DeclarationError, match=f"has sha256 {digest}, the recipe pins 0000"):
        corpus_file(workspace, good.model_copy(update={"sha256": "0" * 64}))
    with pytest.raises(DeclarationError, match=r"no such file: no\.txt"):
        corpus_file(workspace, good.model_copy(update={"file": "no.txt"}))


@pytest.mark.parametrize(
    ("text", "says"),
    [(b"caf\xe9\n", "is not UTF-8: byte 3 is 0xe9"), (b" \n \n", "white space"), (b"", "white")],
)
def test_a_corpus_is_text(workspace: Workspace, text: bytes, says: str) -> None:
    (workspace.root / "book.txt").write_bytes(text)
    filler = CorpusFiller(file="book.txt", sha256=hashlib.sha256(text).hexdigest())
    with pytest.raises(DeclarationError, match=says):
        corpus_text(workspace, filler)


def test_what_cannot_become_a_text_is_refused() -> None:
    twice = (MarkerSpec(id="a", text="X-1"), MarkerSpec(id="b", text="X-1"))
    with pytest.raises(DeclarationError, match="planted twice: X-1"):
        refuse_unbuildable(HaystackSpec(lines=1, question="?", markers=twice))
    alike = HaystackSpec(
        lines=1,
        question="?",
        markers=(MarkerSpec(id="a", text="aa"),),
        decoys=(DecoySpec(of="a", depth=0.1),),
    )
    with pytest.raises(DeclarationError, match="no further decoy can be made"):
        refuse_unbuildable(alike)
