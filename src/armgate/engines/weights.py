"""What a model's weight files weigh on disk: a quantity of its own, and no memory in use."""

from __future__ import annotations

from pathlib import Path

SUFFIXES = frozenset({".safetensors", ".gguf", ".bin", ".pt", ".pth"})


def weight_file_bytes(folder: Path) -> int:
    """Bytes of all files in `folder` with a suffix that engines load weights from."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.suffix in SUFFIXES)
