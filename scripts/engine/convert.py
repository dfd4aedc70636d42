"""Turns the packaged GGUF file of the quickstart's model into the folder that vLLM loads.

Run by the engine's own Python (it needs torch and transformers): `convert.py MODEL.gguf FOLDER`.
The folder must not exist; what is written is bit-identical from one conversion to the next.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig


def convert(gguf: Path, folder: Path) -> None:
    """Write the dequantized bfloat16 weights and the tokenizer of `gguf` into `folder`."""
    folder.mkdir(parents=True)
    model = AutoModelForCausalLM.from_pretrained(
        gguf.parent,
        gguf_file=gguf.name,
        quantization_config=GgufConfig(dequantize=True),
        dtype=torch.bfloat16,
    )
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    for path in folder.iterdir():
        path.chmod(0o644)  # the weights come out as 0600, which a container's user could not read


if __name__ == "__main__":
    convert(Path(sys.argv[1]), Path(sys.argv[2]))
