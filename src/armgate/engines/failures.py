"""Why a boot failed, by the words of its log: wordings that several engines share, each with its source.

Order is from the cause to its echoes: an engine that cannot bind also logs that it shuts down.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from armgate.model.base import Json

Wording: TypeAlias = tuple[str, re.Pattern[str]]


class Failure(NamedTuple):
    """A stable word, the line that says it, and figures that the line gives."""

    cause: str
    line: str
    values: dict[str, Json] = {}


def wording(cause: str, pattern: str) -> Wording:
    """A cause and what a line of the log holds where it is the cause; letter case does not count."""
    return cause, re.compile(pattern, re.IGNORECASE)


PORT = wording("port_in_use", r"address already in use|errno 98|couldn't bind HTTP server socket")
"""asyncio and uvicorn; llama.cpp's server."""
VOCABULARY = wording(
    "draft_vocab_mismatch",
    r"draft model vocab|vocab(ulary)?[ _]size.*(same|match|differ)"
    r"|(same|match|differ).*vocab(ulary)?[ _]size",
)
"""llama.cpp's `draft model vocab must match target model`; vLLM's and SGLang's checks of two sizes."""
CONTEXT = wording(
    "context_above_model", r"max_model_len.* is greater than the derived|context_length.*longer than"
)
"""vLLM's model configuration."""
KV_CACHE = wording(
    "kv_cache_insufficient",
    r"KV cache is needed|No available memory for the cache|max seq len \(\d+\) is larger than"
    r"|Not enough memory\. Please try to increase --mem-fraction-static",
)
"""vLLM old (issue 2418) and new; SGLang's memory pool."""
OUT_OF_MEMORY = wording(
    "out_of_memory",
    r"out of memory|outofmemoryerror|MemoryError|cannot allocate memory"
    r"|failed to allocate|unable to allocate",
)
"""CUDA, ROCm, Python, the C library, ggml."""
REVISION = wording(
    "revision_missing", r"LocalEntryNotFoundError|cannot find the requested files|RevisionNotFoundError"
)
"""huggingface_hub."""
TEMPLATE = wording(
    "chat_template_missing", r"chat template is no longer allowed|must provide a chat template"
)
"""transformers 4.44."""
ARCHITECTURE = wording(
    "wrong_architecture", r"exec format error|unknown model architecture|architectures .* are not supported"
)
"""The kernel, for a program of another machine; llama.cpp and vLLM, for a model that they do not know."""
ARGUMENTS = wording("bad_arguments", r"\.py: error: |error: unrecognized arguments|error: argument ")
"""argparse."""
ANY_ERROR = wording("engine_error", r"\b\w*(Error|Exception)\b: |^error: |: error: ")

SHARED: tuple[Wording, ...] = (
    PORT, VOCABULARY, CONTEXT, KV_CACHE, OUT_OF_MEMORY, REVISION, TEMPLATE, ARCHITECTURE, ARGUMENTS,
    ANY_ERROR,
)  # fmt: skip

COMPILING = re.compile(r"JIT compilation during inference.*|torch\.compile takes .*", re.IGNORECASE)
"""vLLM's monitor of compilations that a request has to wait for, and its own account of the others."""

DRAFT_REFUSED = re.compile(
    r".*draft model vocab type must match.*|.*speculative decoding is disabled.*", re.IGNORECASE
)
"""llama.cpp goes on without the draft and says so in one line; the server listens all the same."""

_WARNING = re.compile(r"\b(WARNING|WARN|INFO|DEBUG)\b")
_TWO_LENGTHS = re.compile(r"max seq len \((\d+)\).*KV cache \((\d+)\)")
_COMPLETE = re.compile(r"NCCL INFO .*\brank (\d+) nranks (\d+).*Init COMPLETE")
_INTERFACE = re.compile(r"rank ?(\d+)\)?.*NCCL INFO .*Using (\S+)")


def find_failure(log: str, wordings: Sequence[Wording] = SHARED) -> Failure | None:
    """The first wording, in order, that a line of the log holds; its last such line.

    A warning is no reason for an end: vLLM quotes `OSError: [Errno 24]` in one at every start.
    """
    lines = [line for line in log.splitlines() if not _WARNING.search(line)]
    for cause, pattern in wordings:
        found = [line for line in lines if pattern.search(line)]
        if found:
            return Failure(cause, found[-1].strip(), _values(found[-1]))
    return None


def compiled_line(log: str) -> str | None:
    """The last line that tells of a compilation in a piece of a log."""
    found = COMPILING.findall(log)
    return found[-1].strip() if found else None


def draft_refused(log: str) -> str | None:
    """The line of a server that goes on without the draft that it was given."""
    found = DRAFT_REFUSED.search(log)
    return found[0].strip() if found else None


def _values(line: str) -> dict[str, Json]:
    lengths = _TWO_LENGTHS.search(line)
    if lengths is None:
        return {}
    return {"needed_tokens": int(lengths[1]), "available_tokens": int(lengths[2])}


def incomplete_ranks(log: str) -> Failure | None:
    """Ranks of a multi-node start that never finished NCCL's initialisation, by its own INFO lines."""
    complete: dict[int, int] = {int(m[1]): int(m[2]) for m in _COMPLETE.finditer(log)}
    if not complete:
        return None
    ranks = max(complete.values())
    missing = sorted(set(range(ranks)) - set(complete))
    if not missing:
        return None
    interfaces = {int(m[1]): m[2] for m in _INTERFACE.finditer(log)}
    told = ", ".join(f"{rank}" + (f" ({interfaces[rank]})" if rank in interfaces else "") for rank in missing)
    line = f"NCCL: ranks {sorted(complete)} of {ranks} are ready, these are not: {told}"
    values: dict[str, Json] = {"ranks_complete": sorted(complete), "ranks_missing": missing}
    return Failure("nccl_init_incomplete", line, values)
