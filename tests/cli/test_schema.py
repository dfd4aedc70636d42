"""The published schemas are those of the types, and the shipped files keep them."""

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from armgate.cli.schema import SCHEMAS, schema_of
from armgate.loading.strict_yaml import load_document

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", list(SCHEMAS))
def test_published_schemas_are_current(name: str, golden: Callable[[Path, str], None]) -> None:
    text = json.dumps(schema_of(name), indent=1, ensure_ascii=False) + "\n"
    golden(ROOT / "src" / "armgate" / "schemas" / f"{name}.json", text)


@pytest.mark.parametrize(
    ("kind", "pattern"),
    [
        ("campaign", "campaigns/*.yaml"),
        ("ladder", "gates/*.yaml"),
        ("contract", "contracts/*.yaml"),
        ("task", "gates/tasks/*/task.yaml"),
    ],
)
def test_shipped_files_keep_the_published_schema(kind: str, pattern: str) -> None:
    files = sorted(ROOT.glob(pattern))
    assert files
    for file in files:
        jsonschema.validate(load_document(file).data, schema_of(kind))
