"""SGLang: serve settings to argv, its counting of draft tokens, what its server tells of itself.

Sources: `ServerArgs` and the HTTP server of sgl-project/sglang; launch commands in its issue threads.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from armgate.engines.failures import Failure, find_failure
from armgate.engines.protocol import Address, ArmFiles
from armgate.engines.serve_flags import flag, revision
from armgate.model.arms import Arm
from armgate.model.base import Json

SERVER_INFO = "/get_server_info"

_ALGORITHMS = {"mtp": "NEXTN", "draft_model": "STANDALONE"}
"""Methods under other engines' names; any other method is the algorithm in capitals."""
_BLOCK_DRAFTERS = frozenset({"DFLASH", "NGRAM"})
"""Draft in one pass, so that a number of steps and a width of the tree mean nothing to them."""
_TOLD = {
    "context_length": "max_model_len",
    "max_total_num_tokens": "kv_cache_tokens",
    "max_running_requests": "max_running_requests",
    "kv_cache_dtype": "kv_cache_dtype",
    "speculative_algorithm": "speculative_algorithm",
    "speculative_num_draft_tokens": "speculative_num_draft_tokens",
    "attention_backend": "attention_backend",
    "model_path": "root",
}
"""Keys of the server's own account -> the names that records use."""


class SgLang:
    """The engine as started by `python -m sglang.launch_server`. `/health` answers 503 until it is warm."""

    name = "sglang"
    managed = frozenset(
        {"model_path", "model", "host", "port", "served_model_name", "tokenizer_path", "revision"}
        | {"chat_template", "api_key", "speculative_algorithm", "speculative_draft_model_path"}
        | {"speculative_num_draft_tokens", "speculative_num_steps", "speculative_draft_model_revision"}
    )
    attach_only = False
    packages: tuple[str, ...] = ("sglang", "torch", "transformers", "flashinfer-python")
    health: str | None = "/health"
    version: str | None = SERVER_INFO
    tells: tuple[str, ...] = (SERVER_INFO,)
    reset: str | None = "/flush_cache"

    def argv(self, arm: Arm, files: ArmFiles, model_id: str, at: Address) -> tuple[str, ...]:
        out = ["-m", "sglang.launch_server"]
        out += ["--model-path", files.target.argument, *revision("--revision", files.target)]
        if files.tokenizer is not None:
            out += ["--tokenizer-path", files.tokenizer.argument]
        if files.chat_template is not None:
            out += ["--chat-template", str(files.chat_template)]
        out += ["--served-model-name", model_id, "--host", at.host, "--port", str(at.port)]
        for key, value in arm.serve.items():
            out += flag(key, value, paired=False)
        return (*out, *self._speculation(arm, files))

    def _speculation(self, arm: Arm, files: ArmFiles) -> list[str]:
        if arm.speculative is None:
            return []
        algorithm = _algorithm(arm.speculative.method)
        out = ["--speculative-algorithm", algorithm]
        if files.draft is not None:
            out += ["--speculative-draft-model-path", files.draft.argument]
            out += revision("--speculative-draft-model-revision", files.draft)
        for key, value in (self.own_depth(arm) | arm.speculative.options).items():
            out += flag(key, value, paired=False)
        return out

    def environment(self, arm: Arm, scratch: Path) -> dict[str, str]:
        return {
            "XDG_CACHE_HOME": str(scratch / "cache"),
            "TORCHINDUCTOR_CACHE_DIR": str(scratch / "cache" / "inductor"),
            "TRITON_CACHE_DIR": str(scratch / "cache" / "triton"),
            "FLASHINFER_WORKSPACE_BASE": str(scratch / "cache"),
            "HF_HUB_OFFLINE": "1",
        }

    def own_depth(self, arm: Arm) -> dict[str, int]:
        """SGLang's number of draft tokens counts the bonus token: depth 7 is its 8."""
        if arm.speculative is None:
            return {}
        own = {"speculative_num_draft_tokens": arm.depth + 1}
        if _algorithm(arm.speculative.method) in _BLOCK_DRAFTERS:
            return own
        return {"speculative_num_steps": arm.depth, "speculative_eagle_topk": 1, **own}

    def refused_parameters(self, arm: Arm) -> frozenset[str]:
        return frozenset()

    def failure(self, log: str) -> Failure | None:
        return find_failure(log)

    def log_facts(self, log: str) -> dict[str, Json]:
        return {}

    def resolved(self, answers: Mapping[str, Json]) -> dict[str, Json]:
        """Server arguments as they stand after the start; the scheduler's state lies one level below."""
        told = answers.get(SERVER_INFO)
        if not isinstance(told, dict):
            return {}
        states = told.get("internal_states")
        below = states[0] if isinstance(states, list) and states and isinstance(states[0], dict) else {}
        both = {**told, **below}
        return {name: both[key] for key, name in _TOLD.items() if both.get(key) is not None}

    def version_of(self, body: Json) -> str | None:
        version = body.get("version") if isinstance(body, dict) else None
        return version if isinstance(version, str) else None


def _algorithm(method: str) -> str:
    return _ALGORITHMS.get(method, method.upper())
